import FeathersCaching
import Foundation

/// The storages that every rule holds for.
enum TestedStorage: CaseIterable, Sendable {
    case memory, disk, layered

    func make(in directory: TemporaryDirectory) -> any CacheStorage {
        switch self {
        case .memory: MemoryCacheStorage()
        case .disk: DiskCacheStorage(directory: directory.url)
        case .layered: LayeredCacheStorage(MemoryCacheStorage(), DiskCacheStorage(directory: directory.url))
        }
    }
}

/// A directory that is removed with this object.
final class TemporaryDirectory: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(
        path: "feathers-cache-\(UUID().uuidString)", directoryHint: .isDirectory)

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The names of the files in it.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    /// How many bytes the files take, those that are being written included.
    func byteCount() throws -> Int {
        try names().filter { $0 != "lock" }.reduce(0) { sum, name in
            // It may be gone again.
            sum
                + ((try? FileManager.default.attributesOfItem(atPath: url.appending(path: name).path)[.size] as? Int)
                    ?? 0)
        }
    }
}
