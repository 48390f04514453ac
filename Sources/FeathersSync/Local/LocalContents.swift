public import FeathersCore
import FeathersSupport
public import Foundation

/// The data that an app has on this device; see ``FeathersApp/localStore``.
public struct LocalData: Sendable {
    let results: KeptResults

    /// Returns what is stored, of all users.
    /// - Throws: ``FeathersError`` naming the file if it cannot be read.
    public func contents() async throws -> LocalContents { try await results.contents() }
}

/// What an app's local store contains, for a settings screen or a support message.
public struct LocalContents: Sendable {
    /// The stored result of a live query.
    public struct Result: Sendable {
        /// The service's path.
        public let path: String
        /// The query, with what else the result depends on, as JSON.
        public let query: String
        /// The user to whom it was sent.
        public let identity: Identity?
        /// The number of records.
        public let count: Int
        /// The size of the records in bytes.
        public let size: Int
        /// When the server's data was last up to date.
        public let date: Date
        /// When it was last shown. The results that were least recently shown are removed first.
        public let shown: Date
    }

    /// A queued write.
    public struct Write: Sendable {
        /// The id of the write.
        public let id: OutboxWrite.ID
        /// The service's path.
        public let path: String
        /// The method to call.
        public let method: ServiceMethod
        /// The user to whom the write belongs.
        public let identity: Identity?
        /// The size of its data in bytes.
        public let size: Int
        /// When it was queued.
        public let date: Date
    }

    /// The results, the one that was shown last first.
    public private(set) var results: [Result] = []
    /// The queued writes of all users, in their order.
    public private(set) var writes: [Write] = []

    /// The size of everything in bytes.
    public var size: Int { results.reduce(0) { $0 + $1.size } + writes.reduce(0) { $0 + $1.size } }

    init() {}
}

extension LocalContents {
    init(in database: Database) throws {
        results = try database.rows(
            "SELECT path, query, identity, count, size, date, shown FROM results ORDER BY shown DESC"
        ) { row in
            Result(
                path: try row.string(0) ?? "", query: try row.string(1) ?? "",
                identity: try row.string(2).map(Identity.init), count: try row.requiredNumber(3),
                size: try row.requiredNumber(4), date: try row.date(5) ?? .distantPast,
                shown: try row.date(6) ?? .distantPast)
        }
        writes = try database.rows("SELECT id, path, method, identity, size, date FROM writes ORDER BY number") { row in
            Write(
                id: try row.string(0).flatMap(UUID.init(uuidString:)) ?? UUID(), path: try row.string(1) ?? "",
                method: ServiceMethod(rawValue: try row.string(2) ?? ""),
                identity: try row.string(3).map(Identity.init),
                size: try row.requiredNumber(4), date: try row.date(5) ?? .distantPast)
        }
    }
}
