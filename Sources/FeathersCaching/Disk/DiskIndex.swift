/// What is known of a cache's files: their sizes, and which was not used for longest.
struct DiskIndex: Sendable {
    private var files = LeastRecentlyUsed<String, Int>()
    private(set) var bytes = 0

    init(_ files: [CacheDirectory.File] = []) {
        for file in files.sorted(by: { ($0.lastUsed, $0.name) < ($1.lastUsed, $1.name) }) { set(file.bytes, for: file.name) }
    }

    var names: [String] { Array(files.keys) }
    var oldestName: String? { files.oldestKey }

    mutating func set(_ size: Int, for name: String) {
        bytes += size - (files.set(size, for: name) ?? 0)
    }

    mutating func use(_ name: String) {
        _ = files.use(name)
    }

    mutating func remove(_ name: String) {
        bytes -= files.remove(name) ?? 0
    }
}
