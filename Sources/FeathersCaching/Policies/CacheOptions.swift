public import FeathersCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How a cache treats all services alike.
public struct CacheOptions: Sendable {
    /// Whether expired answers are kept for the policies that show them, and so that a server can say they still hold. If not, an expired
    /// answer is removed when it is found, and the read is a miss.
    public var keepsExpired = true

    /// Whether identical reads at the same time share one request.
    public var sharesRequests = true

    /// The custom methods that change records, and so empty their service's group as `create`, `update`, `patch` and `remove` do.
    public var changingMethods: Set<ServiceMethod> = []

    /// The header fields of a call, besides `Authorization` and `Cookie`, that the answer depends on; compared without case.
    public var keyHeaders: Set<String> = ["Accept-Language"]

    /// Stands before every key: a name of the server, where several apps share a storage.
    public var namespace = ""

    /// A part of the key that tells users apart, in addition to ``FeathersApp/cachePartition``. It must not hold secrets.
    public var partition: @Sendable (HookContext) -> String = { _ in "" }

    /// Hears of failures that no caller is told: of the storage, and of refreshes in the background.
    public var onFailure: @Sendable (any Error) -> Void = { _ in }

    /// The time of day, by which answers expire.
    public var now: @Sendable () -> Date = { Date() }

    /// Hears how many reads wait for the request of another, whenever one more does: tests wait for it.
    var onWaiting: @Sendable (Int) -> Void = { _ in }

    /// Options as they are unless set.
    public init() {}
}

/// How a cache treats the reads of one service; what is nil is as for all others.
public struct ServiceCacheOptions: Sendable, Hashable {
    /// Where reads are answered from.
    public var policy: CachePolicy?
    /// How long answers are fresh.
    public var expiration: CacheExpiration?
    /// The group of the service's answers, which every change empties as a whole; the service's path unless said otherwise. Services whose
    /// answers hold each other's records share a group.
    public var group: String?

    /// Options of one service; the parameters are the properties of the same names.
    public init(policy: CachePolicy? = nil, expiration: CacheExpiration? = nil, group: String? = nil) {
        self.policy = policy
        self.expiration = expiration
        self.group = group
    }
}
