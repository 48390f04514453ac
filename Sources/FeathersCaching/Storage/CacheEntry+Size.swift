import FeathersCore

extension CacheEntry {
    /// About how many bytes of memory the entry takes: its texts, and what stands around each value.
    var estimatedBytes: Int {
        value.estimatedBytes + (answer?.estimatedBytes ?? 0) + (entityTag?.utf8.count ?? 0) + 64
    }
}

extension JSONValue {
    fileprivate var estimatedBytes: Int {
        switch self {
        case .null, .bool, .integer, .number: 16
        case .string(let string): 16 + string.utf8.count
        case .array(let array): array.reduce(48) { $0 + $1.estimatedBytes }
        case .object(let object): object.reduce(48) { $0 + 16 + $1.key.utf8.count + $1.value.estimatedBytes }
        }
    }
}
