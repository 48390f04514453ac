/// A result together with where it came from.
public struct CachedResult<Value: Sendable>: Sendable {
    /// What was read.
    public let value: Value
    /// Where it came from, and whether it is old or new.
    public let source: CacheSource

    /// A result with its source.
    public init(_ value: Value, from source: CacheSource) {
        self.value = value
        self.source = source
    }

    /// The same source's other value.
    func map<Other>(_ transform: (Value) throws -> Other) rethrows -> CachedResult<Other> {
        CachedResult<Other>(try transform(value), from: source)
    }
}

extension CachedResult: Equatable where Value: Equatable {}

/// Where a result came from.
public enum CacheSource: Sendable, Hashable {
    /// The network; `updated` is false where it is equal to the cached value that the same read gave before.
    case network(updated: Bool)
    /// The cache.
    case cache(isExpired: Bool)
}
