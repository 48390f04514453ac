public import FeathersSupport

// What users were told, and state of other threads, is not printed or dumped.

extension ServiceCache: SecretHiding, Summarized {
    package var summary: String { "ServiceCache(\(summarize(storage)))" }
}

extension MemoryCacheStorage: SecretHiding {}
extension DiskCacheStorage: SecretHiding {}
