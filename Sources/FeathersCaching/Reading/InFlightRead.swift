import FeathersCore

/// What makes two cached reads identical, so that they share one request.
struct InFlightRead: Sendable, Hashable {
    let key: CacheKey
    let stamp: CacheInvalidation.Stamp
    let partition: CachePartition
    let headers: [String: String]
    let timeout: Duration?
    let writes: Bool
    let expiration: CacheExpiration
}
