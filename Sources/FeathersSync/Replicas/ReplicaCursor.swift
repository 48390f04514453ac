import FeathersCore

/// The requests that read a list in the order of its records' versions, page by page. A state machine without I/O.
///
/// A page begins with the version at which the page before has ended, because several records can have it: what is read
/// twice is taken twice. Times may be more precise on the server than in JSON, so such a page begins a millisecond
/// earlier. If a whole page has no later version, its records are read by their ids.
struct ReplicaCursor: Sendable {
    /// The number of records of a page.
    static let pageSize = 1_000

    private let filter: Query<JSONValue>
    private let version: String
    private let id: String
    private let path: String
    /// The version at which the next page begins; nil before the first record.
    private(set) var start: ReplicaVersion?
    /// The id behind which the records of one version are read; nil if they are read in the order of versions.
    private var tie: JSONValue??
    private(set) var isOver = false
    /// Whether the records of one version are read.
    var isTie: Bool { tie != nil }
    /// The latest version that was received.
    private(set) var last: ReplicaVersion?

    /// - Parameters:
    ///   - filter: The conditions of the list.
    ///   - version: The property in whose order it is read.
    ///   - id: The name of the records' id property.
    ///   - path: The path of the service, for errors.
    ///   - start: The version of the first records; nil for all.
    init(_ filter: Query<JSONValue>, version: String, id: String, path: String, from start: ReplicaVersion?) {
        (self.filter, self.version, self.id, self.path, self.start) = (filter, version, id, path, start)
    }

    /// The query of the next page.
    var next: Query<JSONValue> {
        guard let start else { return filter.sorted(by: version).sorted(by: id).limit(Self.pageSize) }
        guard let tie else {
            return filter.joined(with: Query(start.conditions(on: version))).sorted(by: version).sorted(by: id).limit(
                Self.pageSize)
        }
        var query = filter.joined(with: Query(start.tieConditions(on: version)))
        if let tie { query = query.joined(with: [id: ["$gt": tie]]) }
        return query.sorted(by: id).limit(Self.pageSize)
    }

    /// Takes a page.
    /// - Parameter asked: The number of records that were requested.
    /// - Throws: ``FeathersError/Code/generalError`` naming a record without a version.
    mutating func received(_ page: Page<JSONValue>, asked: Int) throws(FeathersError) {
        var latest: ReplicaVersion?
        for record in page.data {
            guard let version = ReplicaVersion(record[version]) else {
                throw FeathersError(
                    .generalError,
                    "A replica of service '\(path)' needs a date or a whole number in '\(version)', which record "
                        + "'\(record[id].map(\.description) ?? "")' lacks", execution: .answered)
            }
            latest = version
            if last.map({ $0 < version }) ?? true { last = version }
        }
        let isWhole = page.count < min(asked, page.limit.flatMap { $0 > 0 ? $0 : nil } ?? .max)
        if tie != nil {
            if isWhole { (start, tie) = (start?.behindTie, nil) } else { tie = page.data.last?[id] }
            return
        }
        guard !isWhole, let next = latest?.included else { return isOver = true }
        if start.map({ $0 < next }) ?? true { start = next } else { tie = .some(nil) }
    }
}
