// Locks: Functions of the database's thread, inside a transaction of the caller.

import FeathersCore
import FeathersSupport

/// Removes lists, and the records to which nothing refers.
enum LocalRoom {
    // MARK: Orphans

    /// Removes the records that no list and no queued write has, and that are older than every list of their service.
    /// What is newer may belong into a list that was stored before. Without a list, nothing is older.
    static func removeOrphans(in database: Database) throws {
        try removeRemains(in: database)
        for service in try services(in: database) {
            let oldest = try database.number(
                "SELECT min(change) FROM lists WHERE service = ?", SQLiteValue(service))
            if let oldest { try removeUnused(of: service, changes: 0...oldest, in: database) }
        }
    }

    /// The services that share their records.
    private static func services(in database: Database) throws -> [Int] {
        try database.rows("SELECT number FROM services WHERE list IS NULL") { try $0.requiredNumber(0) }
    }

    /// Removes the records of a service that no list and no queued write has.
    /// - Parameter changes: The changes of those that are removed.
    static func removeUnused(
        of service: Int, changes: ClosedRange<Int> = 0...SQLiteRow.largestNumber, in database: Database
    ) throws {
        let lists = try database.rows("SELECT number, count FROM lists WHERE service = ?", SQLiteValue(service)) {
            (number: try $0.requiredNumber(0, atMost: ListTables.largestList), count: try $0.requiredNumber(1))
        }
        let most = lists.map(\.count).max() ?? 0
        // Usually, the longest list has all of them.
        let all = "SELECT count(*) FROM records WHERE service = ?"
        guard try database.number(all, SQLiteValue(service)) ?? 0 > most else { return }
        var used = try writtenKeys(in: database)
        for list in lists {
            for chunk in try ListTables.chunks(of: list.number, after: 0, keys: .max, in: database) {
                used.formUnion(chunk.keys)
            }
        }
        let sql = """
            SELECT number, key FROM records WHERE service = ? AND change BETWEEN ? AND ?
            AND number NOT IN (SELECT record FROM members WHERE property = 0)
            """
        let values = [service, changes.lowerBound, changes.upperBound].map { SQLiteValue($0) }
        let unused = try database.rows(sql, values) { row -> Int? in
            used.contains(try row.string(1) ?? "") ? nil : try row.requiredNumber(0)
        }
        var size = 0
        for number in unused.compactMap(\.self) {
            size +=
                try database.number(
                    "SELECT length(CAST(json AS BLOB)) FROM records WHERE number = ?", SQLiteValue(number)) ?? 0
            try database.execute("DELETE FROM records WHERE number = ?", SQLiteValue(number))
        }
        try RecordTables.grew(service, by: -size, in: database)
    }

    /// The keys of the records of queued writes, whatever their service.
    private static func writtenKeys(in database: Database) throws -> Set<String> {
        let ids = try database.rows("SELECT DISTINCT record FROM writes WHERE record IS NOT NULL") { row in
            row.bytes(0).flatMap { try? JSONValue(parsing: $0[...]) }.flatMap { ServiceID($0)?.key }
        }
        return Set(ids.compactMap(\.self))
    }

    /// Removes what belongs to nothing: what a process has left that ended while it stored a list, and numbers that
    /// only a damaged file has.
    private static func removeRemains(in database: Database) throws {
        for column in ["size", "change"] {
            try database.execute(
                "DELETE FROM services WHERE typeof(\(column)) <> 'integer' OR \(column) NOT BETWEEN 0 AND ?",
                SQLiteValue(SQLiteRow.largestNumber))
        }
        try database.execute("DELETE FROM services WHERE number < 1")
        try database.execute(
            "DELETE FROM lists WHERE number NOT BETWEEN 1 AND ? OR service NOT IN (SELECT number FROM services)",
            SQLiteValue(ListTables.largestList))
        try database.execute(
            "DELETE FROM services WHERE list IS NOT NULL AND list NOT IN (SELECT number FROM lists)")
        try ReplicaTables.removeRemains(in: database)
        try database.execute("DELETE FROM chunks WHERE position < ?", ListTables.position(1, 0))
        try database.execute("DELETE FROM chunks WHERE position >= ?", SQLiteValue(ListTables.largestPosition))
        var last = 0
        while let next = try database.number(
            "SELECT min(position) FROM chunks WHERE position > ?", ListTables.position(last + 1, 0),
            atMost: ListTables.largestPosition)
        {
            last = next / SavedList.limit
            let isUsed = try database.integer("SELECT count(*) FROM lists WHERE number = ?", SQLiteValue(last)) == 1
            if !isUsed { try ListTables.removeChunks(of: last, in: database) }
        }
        try database.execute("DELETE FROM records WHERE typeof(service) <> 'integer' OR service < 1")
        var service: Int64 = 0
        while let next = try database.integer(
            "SELECT min(service) FROM records WHERE service > ?", .integer(service))
        {
            service = next
            let count = try database.integer("SELECT count(*) FROM services WHERE number = ?", .integer(service))
            if count != 1 { try database.execute("DELETE FROM records WHERE service = ?", .integer(service)) }
        }
    }

    // MARK: Room

    /// Removes the lists that were least recently shown, with the records that no other list and no queued write has,
    /// until the rest is small enough.
    static func makeRoom(_ maximumSize: Int, in database: Database) throws {
        guard try size(in: database) > maximumSize else { return }
        try removeRemains(in: database)
        let lists = try database.rows(
            "SELECT number, service FROM lists WHERE number NOT IN (SELECT list FROM replicas) ORDER BY shown"
        ) { row in
            (number: try row.requiredNumber(0, atMost: ListTables.largestList), service: try row.requiredNumber(1))
        }
        for list in lists {
            guard try size(in: database) > maximumSize else { return }
            try database.execute("DELETE FROM lists WHERE number = ?", SQLiteValue(list.number))
            try removeRemains(in: database)
            try removeUnused(of: list.service, in: database)
        }
        for service in try services(in: database) {
            guard try size(in: database) > maximumSize else { return }
            try removeUnused(of: service, in: database)
        }
    }

    /// The size of all records in bytes.
    static func size(in database: Database) throws -> Int {
        try database.number("SELECT CAST(total(size) AS INTEGER) FROM services", atMost: .max) ?? 0
    }

    // MARK: Users

    /// Removes the lists and records of a user; those of all users if it is nil.
    static func removeAll(of identity: Identity?, in database: Database) throws {
        let name = SQLiteValue(identity?.name)
        for table in ["lists", "records"] {
            try database.execute(
                """
                DELETE FROM \(table) WHERE ?1 IS NULL
                OR service IN (SELECT number FROM services WHERE identity = ?1)
                """, name)
        }
        try database.execute("DELETE FROM services WHERE ?1 IS NULL OR identity = ?1", name)
        try removeRemains(in: database)
    }
}
