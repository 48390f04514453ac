public import FeathersSupport

// Hides users' data, and the state of other threads, from printing and dumping.

extension ServiceCache: SecretHiding, Summarized {
    package var summary: String { "ServiceCache(\(summarize(storage)))" }
}

extension MemoryCacheStorage: SecretHiding {}
extension DiskCacheStorage: SecretHiding {}
