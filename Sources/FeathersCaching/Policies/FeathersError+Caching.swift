public import FeathersCore

extension FeathersError.Code {
    /// A read was to be answered from the cache alone, which has nothing: what HTTP answers to `only-if-cached` (RFC 9111, section 5.2.1.7).
    public static let notInCache: Self = 504
}

extension FeathersError {
    static func notInCache(_ method: ServiceMethod, at path: String) -> FeathersError {
        var error = FeathersError(.notInCache, "The cache has no answer for '\(method)' on service '\(path)'", execution: .neverSent)
        error.name = "NotInCache"
        error.className = "not-in-cache"
        return error
    }
}
