import FeathersCore
import FeathersSupport
import Foundation

/// What a database says of a result beside its rows.
struct StoredHead: Sendable {
    let number: Int
    /// Grows with each change.
    let version: Int
    let date: Date
    /// The number of rows.
    let count: Int
    let total: Int?
    let limit: Int?
    let isComplete: Bool
    let isSorted: Bool
    let unsettled: Set<UUID>
    /// The number of the last executed write whose result was stored before this one was taken.
    let executed: Int
}

/// The tables of kept results.
///
///     results  one row for each user, service and query
///     rows     the records of all results. A row's position is the number of its result, then its place in it
///
/// Rows without a result were left by a process that ended while it stored a long result. They are removed.
enum ResultTables {
    static let statements = [
        """
        CREATE TABLE results (number INTEGER PRIMARY KEY, identity TEXT, path TEXT NOT NULL, query TEXT NOT NULL,
        version INTEGER NOT NULL, date REAL NOT NULL, shown REAL NOT NULL, count INTEGER NOT NULL,
        size INTEGER NOT NULL, total INTEGER, row_limit INTEGER, is_complete INTEGER NOT NULL,
        is_sorted INTEGER NOT NULL, unsettled TEXT, executed INTEGER NOT NULL)
        """,
        "CREATE INDEX results_key ON results (path, query)",
        "CREATE TABLE rows (position INTEGER PRIMARY KEY, record TEXT NOT NULL)",
    ]

    private static let key = "path = ? AND query = ? AND identity IS ?"

    private static func values(_ key: KeptResultKey) -> [SQLiteValue] {
        [.text(key.path), .text(key.text), SQLiteValue(key.identity?.name)]
    }

    /// The largest number of a result, so that positions are integers.
    private static let largestResult = 1 << 22
    private static let largestPosition = (largestResult + 1) * SavedResult.limit

    private static func position(_ number: Int, _ place: Int) -> SQLiteValue {
        SQLiteValue(number * SavedResult.limit + place)
    }

    // MARK: Reading

    static func head(_ key: KeptResultKey, in database: Database) throws -> StoredHead? {
        let sql = """
            SELECT number, version, date, count, total, row_limit, is_complete, is_sorted, unsettled, executed
            FROM results WHERE \(Self.key)
            """
        return try database.rows(sql, values(key)) { row in
            let unsettled = try row.bytes(8).map { try JSONValue(parsing: $0[...]) }
            return StoredHead(
                number: try row.requiredNumber(0, atMost: largestResult), version: try row.requiredNumber(1),
                date: try row.date(2) ?? .distantPast, count: try row.requiredNumber(3), total: try row.number(4),
                limit: try row.number(5), isComplete: try row.flag(6), isSorted: try row.flag(7),
                unsettled: Set((unsettled?.array ?? []).compactMap { $0.string.flatMap(UUID.init(uuidString:)) }),
                executed: try row.requiredNumber(9))
        }.first
    }

    /// Returns the next rows of a result.
    static func rows(of number: Int, after place: Int, atMost count: Int, in database: Database) throws -> (
        places: [Int], records: [[UInt8]]
    ) {
        let sql = "SELECT position, record FROM rows WHERE position > ? AND position < ? ORDER BY position LIMIT ?"
        var found: (places: [Int], records: [[UInt8]]) = ([], [])
        try database.forEachRow(sql, [position(number, place), position(number + 1, 0), SQLiteValue(count)]) { row in
            found.places.append(try row.requiredNumber(0, atMost: largestPosition) - number * SavedResult.limit)
            found.records.append(row.bytes(1) ?? [])
        }
        return found
    }

    /// The number of the last executed write whose result is stored.
    static func lastExecuted(in database: Database) throws -> Int {
        try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'executed'") ?? 0
    }

    // MARK: Writing

    /// A number that no result and no row has.
    static func nextNumber(in database: Database) throws -> Int {
        let results = try database.number("SELECT max(number) FROM results", atMost: largestResult - 1) ?? 0
        let rows = try database.number("SELECT max(position) FROM rows", atMost: largestPosition) ?? 0
        return max(results, rows / SavedResult.limit) + 1
    }

    /// Inserts rows into a result.
    /// - Returns: Their size in bytes.
    static func insert(
        _ rows: some Sequence<(Int, ResultRow)>, into number: Int, in database: Database
    ) throws -> Int {
        var size = 0
        for (place, row) in rows {
            let record = try row.record.serialized()
            size += record.count
            try database.execute(
                "INSERT INTO rows (position, record) VALUES (?, ?)", position(number, place), .utf8(record))
        }
        return size
    }

    /// Makes stored rows the result of a query, in place of an earlier one.
    static func setResult(
        _ key: KeptResultKey, to result: KeptResult, _ number: Int, size: Int, executed: Int, in database: Database
    ) throws {
        // A damaged one is replaced as well.
        let old = try? head(key, in: database)
        if let old { try remove(old.number, in: database) }
        try database.execute("DELETE FROM results WHERE \(Self.key)", values(key))
        try database.execute(
            """
            INSERT INTO results (path, query, identity, number, version, date, shown, count, size, total, row_limit,
            is_complete, is_sorted, unsettled, executed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            values(key) + [
                SQLiteValue(number), SQLiteValue((old?.version ?? 0) + 1), date(result.date), date(.current),
            ]
                + [SQLiteValue(result.rows.count), SQLiteValue(size)] + (try details(result, executed)))
    }

    /// Applies changes to a stored result.
    /// - Returns: Whether it is still stored.
    static func change(
        _ number: Int, by changes: SavedResult.Changes, to result: KeptResult, executed: Int, in database: Database
    ) throws -> Bool {
        let exists = try database.integer("SELECT count(*) FROM results WHERE number = ?", SQLiteValue(number)) == 1
        guard exists else { return false }
        var removed = 0
        for place in changes.removed {
            let position = position(number, place)
            removed +=
                try database.number(
                    "SELECT length(CAST(record AS BLOB)) FROM rows WHERE position = ?", position) ?? 0
            try database.execute("DELETE FROM rows WHERE position = ?", position)
        }
        let inserted = try insert(changes.inserted, into: number, in: database)
        try database.execute(
            """
            UPDATE results SET version = version + 1, date = ?, shown = ?, count = ?, size = size + ?, total = ?,
            row_limit = ?, is_complete = ?, is_sorted = ?, unsettled = ?, executed = ? WHERE number = ?
            """,
            [date(result.date), date(.current), SQLiteValue(result.rows.count), SQLiteValue(inserted - removed)]
                + (try details(result, executed)) + [SQLiteValue(number)])
        return true
    }

    private static func details(_ result: KeptResult, _ executed: Int) throws -> [SQLiteValue] {
        let unsettled = JSONValue.array(result.unsettled.map { .string($0.uuidString) })
        return [
            number(result.total), number(result.limit),
            SQLiteValue(result.isComplete), SQLiteValue(result.isSorted),
            result.unsettled.isEmpty ? .null : .utf8(try unsettled.serialized()), SQLiteValue(executed),
        ]
    }

    /// Servers send any number.
    private static func number(_ number: Int?) -> SQLiteValue {
        number.map { SQLiteValue(min(max($0, 0), SQLiteRow.largestNumber)) } ?? .null
    }

    private static func date(_ date: Date) -> SQLiteValue { .double(date.timeIntervalSinceReferenceDate) }

    /// Records that results were shown.
    static func show(_ keys: Set<KeptResultKey>, in database: Database) throws {
        for key in keys {
            try database.execute("UPDATE results SET shown = ? WHERE \(Self.key)", [date(.current)] + values(key))
        }
    }

    // MARK: Removing

    static func remove(_ number: Int, in database: Database) throws {
        try database.execute("DELETE FROM results WHERE number = ?", SQLiteValue(number))
        try database.execute(
            "DELETE FROM rows WHERE position > ? AND position < ?", position(number, 0), position(number + 1, 0))
    }

    /// Removes the results of a user; those of all users if it is nil. Their rows are removed by ``sweep(_:)``.
    static func removeAll(of identity: Identity?, in database: Database) throws {
        try database.execute("DELETE FROM results WHERE ?1 IS NULL OR identity = ?1", SQLiteValue(identity?.name))
    }

    /// Removes rows that belong to no result.
    static func sweep(_ database: Database) throws {
        // Positions that no result can have are those of a damaged file.
        try database.execute("DELETE FROM results WHERE number < 1")
        try database.execute("DELETE FROM results WHERE number > ?", SQLiteValue(largestResult))
        try database.execute("DELETE FROM rows WHERE position < ?", position(1, 0))
        try database.execute("DELETE FROM rows WHERE position >= ?", SQLiteValue(largestPosition))
        var last = 0
        while let next = try database.number(
            "SELECT min(position) FROM rows WHERE position > ?", position(last + 1, 0), atMost: largestPosition)
        {
            last = next / SavedResult.limit
            let isUsed = try database.integer("SELECT count(*) FROM results WHERE number = ?", SQLiteValue(last)) == 1
            if !isUsed { try remove(last, in: database) }
        }
    }

    /// Removes results that were least recently shown until the rest is small enough.
    static func makeRoom(_ maximumSize: Int, in database: Database) throws {
        // Sizes that are not numbers are those of a damaged file.
        try database.execute(
            "DELETE FROM results WHERE typeof(size) <> 'integer' OR size NOT BETWEEN 0 AND ?",
            SQLiteValue(SQLiteRow.largestNumber))
        var size = try database.number("SELECT CAST(total(size) AS INTEGER) FROM results", atMost: .max) ?? 0
        guard size > maximumSize else { return }
        let results = try database.rows("SELECT number, size FROM results ORDER BY shown") { row in
            (number: try row.requiredNumber(0), size: try row.requiredNumber(1))
        }
        for result in results where size > maximumSize {
            try database.execute("DELETE FROM results WHERE number = ?", SQLiteValue(result.number))
            size -= result.size
        }
    }
}
