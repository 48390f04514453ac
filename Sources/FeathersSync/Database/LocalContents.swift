// Locks: Values without a lock.

public import FeathersCore
import FeathersSupport
public import Foundation

/// The data that an app has on this device; see ``FeathersApp/localStore``.
public struct LocalData: Sendable {
    let storedLists: StoredLists

    /// Returns what is stored, of all users.
    /// - Throws: ``FeathersError`` naming the file if it cannot be read.
    public func contents() async throws -> LocalContents { try await storedLists.contents() }

    /// Removes the lists and records of a user from this device, or those of all users if `identity` is nil. Queued
    /// writes stay.
    /// - Throws: an error that names the file if one cannot be removed, or ``FeathersError/Code/badRequest`` if the
    ///   store is read-only.
    public func removeAll(of identity: Identity? = nil) async throws { try await storedLists.removeAll(of: identity) }
}

/// What an app's local store contains, for a settings screen or a support message.
public struct LocalContents: Sendable {
    /// The stored list of a live query.
    public struct Result: Sendable {
        /// The service's path.
        public let path: String
        /// The query, with what else the list depends on, as JSON.
        public let query: String
        /// The user to whom it was sent.
        public let identity: Identity?
        /// The number of records.
        public let count: Int
        /// When the server's data was last up to date.
        public let date: Date
        /// When it was last shown. The lists that were least recently shown are removed first.
        public let shown: Date
    }

    /// The stored records of a service. Lists share them.
    public struct Records: Sendable {
        /// The service's path.
        public let path: String
        /// The user to whom they were sent.
        public let identity: Identity?
        /// Their size in bytes.
        public let size: Int
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

    /// The lists of live queries, the one that was shown last first.
    public private(set) var results: [Result] = []
    /// The records of all users, by service.
    public private(set) var records: [Records] = []
    /// The queued writes of all users, in their order.
    public private(set) var writes: [Write] = []

    /// The size of all records and writes in bytes.
    public var size: Int { records.reduce(0) { $0 + $1.size } + writes.reduce(0) { $0 + $1.size } }

    init() {}
}

extension LocalContents {
    init(in database: Database) throws {
        results = try database.rows(
            """
            SELECT path, query, identity, count, date, shown FROM lists
            JOIN services ON services.number = lists.service ORDER BY shown DESC
            """
        ) { row in
            Result(
                path: try row.string(0) ?? "", query: try row.string(1) ?? "",
                identity: try row.string(2).map(Identity.init), count: try row.requiredNumber(3),
                date: try row.date(4) ?? .distantPast, shown: try row.date(5) ?? .distantPast)
        }
        records = try database.rows(
            "SELECT path, identity, sum(size) FROM services GROUP BY path, identity ORDER BY path, identity"
        ) { row in
            Records(
                path: try row.string(0) ?? "", identity: try row.string(1).map(Identity.init),
                size: try row.requiredNumber(2))
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
