public import FeathersCore
import FeathersSupport

/// How much the related records of a live query may cost, whatever the server's records contain.
///
/// ```swift
/// app.relationLimits.maximumKeysPerRecord = 5_000
/// ```
///
/// A row has not loaded a relation from which a limit left something out: ``LiveRow/hasLoaded(_:)`` is false. The app's
/// diagnostics have a warning then.
public struct RelationLimits: Sendable {
    /// The maximum number of ids in an array of a record whose related records are shown: the first ones.
    public var maximumKeysPerRecord = 1_000
    /// The maximum number of different keys that a relation requests for all rows of a list. Others are requested when
    /// rows with some of these leave the list.
    public var maximumKeysPerList = 10_000
    /// The maximum number of records that one fetch reads with `get`, from a server that finds no numbers in a query
    /// string; and the maximum number of rows of a list whose counts or latest records a relation requests.
    public var maximumSingleReads = 1_000
    /// The maximum number of pages that one fetch reads besides the first page of each request.
    public var maximumPages = 200
    /// How long a user's first rows wait for their related records in an app without a ``LocalStore``.
    package var responseDelay: Duration = .seconds(2)
    package var clock: any Clock<Duration> = ContinuousClock()

    /// The default limits.
    public init() {}
}

extension FeathersApp {
    /// The limits for the related records of live queries. Set them before you read the queries.
    public var relationLimits: RelationLimits {
        get { self[InstalledLimits.self] ?? RelationLimits() }
        set { self[InstalledLimits.self] = newValue }
    }

    /// How long a user's first rows wait for their related records: as long as a live query waits for the server before
    /// it shows what is stored.
    var relatedDelay: (delay: Duration, clock: RelativeClock) {
        if let lists = storedLists { return (lists.store.responseDelay, lists.clock) }
        let limits = relationLimits
        return (limits.responseDelay, RelativeClock(limits.clock))
    }

    private enum InstalledLimits: AppSetting { typealias Value = RelationLimits }
}
