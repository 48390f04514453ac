// Locks: Functions of the database's thread, inside a transaction of the caller.

import FeathersCore
import FeathersSupport
import Foundation

/// What a database says of a list beside its records.
struct ListHead: Sendable {
    let number: Int
    /// The number of the last change that it includes.
    let change: Int
    let date: Date
    /// The number of records.
    let count: Int
    let total: Int?
    let limit: Int?
    let growth: Int
    let isComplete: Bool
    let isSorted: Bool
    let isShaped: Bool

    /// Returns whether the list is as another reading has found it.
    func isSame(as other: ListHead?) -> Bool { number == other?.number && date == other?.date }
}

/// The tables of lists, which name records by their keys.
///
///     lists   one row for each service and query
///     chunks  the keys of all lists. A chunk's position is the number of its list, then its place in it
///
/// Chunks without a list are removed.
enum ListTables {
    static let statements = [
        """
        CREATE TABLE lists (number INTEGER PRIMARY KEY, service INTEGER NOT NULL, query TEXT NOT NULL,
        change INTEGER NOT NULL, date REAL NOT NULL, shown REAL NOT NULL, count INTEGER NOT NULL, total INTEGER,
        row_limit INTEGER, growth INTEGER NOT NULL, is_complete INTEGER NOT NULL, is_sorted INTEGER NOT NULL,
        is_shaped INTEGER NOT NULL, UNIQUE (service, query))
        """,
        "CREATE TABLE chunks (position INTEGER PRIMARY KEY, keys TEXT NOT NULL)",
    ]

    /// The largest number of a list, so that positions are integers.
    static let largestList = 1 << 22
    static let largestPosition = (largestList + 1) * SavedList.limit

    static func position(_ number: Int, _ place: Int) -> SQLiteValue {
        SQLiteValue(number * SavedList.limit + place)
    }

    // MARK: Reading

    static func head(_ text: String, of service: Int, in database: Database) throws -> ListHead? {
        let sql = """
            SELECT number, change, date, count, total, row_limit, growth, is_complete, is_sorted, is_shaped
            FROM lists WHERE service = ? AND query = ?
            """
        return try database.rows(sql, SQLiteValue(service), .text(text)) { row in
            ListHead(
                number: try row.requiredNumber(0, atMost: largestList), change: try row.requiredNumber(1),
                date: try row.date(2) ?? .distantPast, count: try row.requiredNumber(3), total: try row.number(4),
                limit: try row.number(5), growth: try row.requiredNumber(6), isComplete: try row.flag(7),
                isSorted: try row.flag(8), isShaped: try row.flag(9))
        }.first
    }

    /// The number of the list of a service that was stored last; 0 without one.
    static func lastChange(of service: Int, in database: Database) throws -> Int {
        try database.number("SELECT max(change) FROM lists WHERE service = ?", SQLiteValue(service)) ?? 0
    }

    /// Returns the next chunks of a list, with at least a number of keys if there are so many.
    static func chunks(of number: Int, after place: Int, keys count: Int, in database: Database) throws -> [(
        place: Int, keys: [String]
    )] {
        let sql = "SELECT position, keys FROM chunks WHERE position > ? AND position < ? ORDER BY position LIMIT 1"
        var chunks: [(place: Int, keys: [String])] = []
        var (place, found) = (place, 0)
        while found < count {
            let chunk = try database.rows(sql, position(number, place), position(number + 1, 0)) { row in
                (
                    place: try row.requiredNumber(0, atMost: largestPosition) - number * SavedList.limit,
                    keys: try keys(row.bytes(1) ?? [])
                )
            }.first
            guard let chunk else { break }
            chunks.append(chunk)
            (place, found) = (chunk.place, found + chunk.keys.count)
        }
        return chunks
    }

    private static func keys(_ text: [UInt8]) throws -> [String] {
        guard let values = try? JSONValue(parsing: text[...]).array else { throw DamagedList() }
        return try values.map { value in
            guard let key = value.string else { throw DamagedList() }
            return key
        }
    }

    // MARK: Writing

    /// A number that no list, no chunk and no service of a list's own records has.
    static func nextNumber(in database: Database) throws -> Int {
        let lists = try database.number("SELECT max(number) FROM lists", atMost: largestList - 1) ?? 0
        let chunks = try database.number("SELECT max(position) FROM chunks", atMost: largestPosition) ?? 0
        let services = try database.number("SELECT max(list) FROM services", atMost: largestList - 1) ?? 0
        let members = try database.number("SELECT max(list) FROM members", atMost: largestList - 1) ?? 0
        return max(lists, chunks / SavedList.limit, services, members) + 1
    }

    /// Returns whether a list still has a number.
    static func exists(_ number: Int, _ text: String, of service: Int, in database: Database) throws -> Bool {
        let sql = "SELECT count(*) FROM lists WHERE number = ? AND service = ? AND query = ?"
        return try database.integer(sql, SQLiteValue(number), SQLiteValue(service), .text(text)) == 1
    }

    /// Stores the keys of a list that have changed.
    static func write(_ changes: SavedList.Changes, to rows: ResultRows, of number: Int, in database: Database) throws {
        for place in changes.removed {
            try database.execute("DELETE FROM chunks WHERE position = ?", position(number, place))
        }
        for (place, range) in changes.written {
            let keys = JSONValue.array(rows[range].map { .string($0.key) })
            try database.execute(
                "INSERT OR REPLACE INTO chunks (position, keys) VALUES (?, ?)", position(number, place),
                .utf8(try keys.serialized()))
        }
    }

    /// Stores what is to be said of a list beside its keys.
    /// - Parameter change: The number of the last change that it includes.
    static func write(
        _ state: ListState, _ change: Int, of number: Int, _ text: String, at service: Int, in database: Database
    ) throws {
        try database.execute(
            """
            INSERT OR REPLACE INTO lists (number, service, query, change, date, shown, count, total, row_limit, growth,
            is_complete, is_sorted, is_shaped) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                SQLiteValue(number), SQLiteValue(service), .text(text), SQLiteValue(change), date(state.date),
                date(.current), SQLiteValue(state.rows.count), Self.number(state.total), Self.number(state.limit),
                Self.number(state.growth), SQLiteValue(state.isComplete), SQLiteValue(state.isSorted),
                SQLiteValue(state.isShaped),
            ])
    }

    /// Servers send any number.
    private static func number(_ number: Int?) -> SQLiteValue {
        number.map { SQLiteValue(min(max($0, 0), SQLiteRow.largestNumber)) } ?? .null
    }

    private static func date(_ date: Date) -> SQLiteValue { .double(date.timeIntervalSinceReferenceDate) }

    /// Records that lists were shown.
    static func show(_ keys: Set<ListKey>, in database: Database) throws {
        for key in keys {
            guard let service = try RecordTables.service(key.service, in: database) else { continue }
            try database.execute(
                "UPDATE lists SET shown = ? WHERE service = ? AND query = ?", date(.current), SQLiteValue(service),
                .text(key.text))
        }
    }

    static func removeChunks(of number: Int, in database: Database) throws {
        try database.execute(
            "DELETE FROM chunks WHERE position > ? AND position < ?", position(number, 0), position(number + 1, 0))
    }
}
