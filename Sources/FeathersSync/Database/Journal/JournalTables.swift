// Locks: Functions of the database's thread.

import FeathersCore
import FeathersSupport
import Foundation

/// The tables of an outbox's database, and the rows in them. ``RecordTables`` and ``ListTables`` have the others.
///
///     writes   the pending writes, in their order; updated in place
///     names    the ids of the records that were created last, by the keys under which they were known
///
/// Ids of records and all data are JSON.
enum JournalTables {
    static let schema = DatabaseSchema(
        application: 0x464F_5554, version: 5,
        statements: [
            """
            CREATE TABLE writes (number INTEGER PRIMARY KEY, \(definitions),
            execution TEXT NOT NULL DEFAULT 'neverSent', failure TEXT, failure_size INTEGER NOT NULL DEFAULT 0)
            """,
            "CREATE UNIQUE INDEX writes_id ON writes (id)",
            "CREATE TABLE names (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, id TEXT, place TEXT)",
        ] + RecordTables.statements + ListTables.statements + ReplicaTables.statements)

    /// The columns of a write. Sizes come first, because SQLite reads large rows from their beginning.
    private static let definitions = """
        size INTEGER NOT NULL, id TEXT NOT NULL, key TEXT NOT NULL, path TEXT NOT NULL, method TEXT NOT NULL,
        lane TEXT NOT NULL, identity TEXT, date REAL NOT NULL, record TEXT, tag TEXT, id_property TEXT, previous TEXT,
        query TEXT, route TEXT, base TEXT, data TEXT
        """
    private static let columns = """
        size, id, key, path, method, lane, identity, date, record, tag, id_property, previous, query, route, base, data
        """
    static let columnCount = 16
    static let recordColumn = 8

    private static let placeholders = Array(repeating: "?", count: columnCount).joined(separator: ", ")

    static let insertion = "INSERT INTO writes (\(columns)) VALUES (\(placeholders))"
    static let replacement = "UPDATE writes SET (\(columns)) = (\(placeholders)) WHERE id = ?"

    /// The values of a write's columns.
    static func values(of write: OutboxWrite) throws -> [SQLiteValue] {
        var values = [
            .text(write.id.text), .text(write.key.text), .text(write.path), .text(write.method.rawValue),
            .text(write.lane), SQLiteValue(write.identity?.name), .double(write.date.timeIntervalSinceReferenceDate),
            try json(write.recordID?.json), SQLiteValue(write.entityTag), SQLiteValue(write.idProperty),
            SQLiteValue(write.previous?.text),
            try json(write.query.isEmpty ? nil : .object(write.query.json)),
            try json(write.route.isEmpty ? nil : .object(JSONObject(write.route.map { ($0, .string($1)) }))),
            try json(write.base), try json(write.data),
        ]
        values.insert(SQLiteValue(size(of: values)), at: 0)
        return values
    }

    static func json(_ value: JSONValue?) throws -> SQLiteValue {
        try value.map { .utf8(try $0.serialized()) } ?? .null
    }

    /// Returns the JSON of a failure.
    static func json(_ reason: OutboxFailure.Reason, _ error: FeathersError) throws -> SQLiteValue {
        try json([
            "reason": .string(reason.rawValue), "error": error.wireForm, "execution": .string(error.execution.text),
        ])
    }

    /// Returns the number of bytes in texts.
    static func size(of values: [SQLiteValue]) -> Int {
        values.reduce(0) { sum, value in
            switch value {
            case .text(let text): sum + text.utf8.count
            case .utf8(let bytes), .blob(let bytes): sum + bytes.count
            case .null, .integer, .double: sum
            }
        }
    }

    // MARK: Reading

    /// Reads the pending writes in their order, with the ids that the server has assigned to records: all of them, or
    /// those of one service.
    static func writes(in database: Database, at path: String? = nil) throws -> [StoredWrite] {
        let sql = "SELECT \(columns), number, execution, failure FROM writes"
        func read(_ row: SQLiteRow) throws -> StoredWrite {
            let number = try row.requiredNumber(columnCount)
            return try reading("write \(number)", in: database) {
                let write = try OutboxWrite(row)
                var stored = StoredWrite(write: write, number: number)
                guard let execution = try row.string(columnCount + 1).flatMap(FeathersError.Execution.init(text:))
                else {
                    throw Unreadable()
                }
                stored.execution = execution
                stored.failure = try row.json(columnCount + 2).map {
                    try OutboxFailure($0, of: write, mayHaveExecuted: execution == .mayHaveExecuted)
                }
                return stored
            }
        }
        var writes =
            if let path {
                try database.rows("\(sql) WHERE path = ? ORDER BY number", .text(path), read: read)
            } else {
                try database.rows("\(sql) ORDER BY number", read: read)
            }
        let names = writes.isEmpty ? Names() : Names(stored: try names(in: database))
        for index in writes.indices where !names.isEmpty {
            let write = names.translated(writes[index].write)
            writes[index].write = write
            writes[index].failure?.write = write
        }
        return writes
    }

    /// Reads the names of the records that were created last.
    static func names(in database: Database) throws -> [Names.Stored] {
        try database.rows("SELECT key, id, place, number FROM names ORDER BY number") { row in
            try reading("the id of a created record", in: database) {
                _ = try row.requiredNumber(3)
                guard let key = try row.string(0) else { throw Unreadable() }
                let place = try row.string(2)
                guard let json = try row.json(1) else { return Names.Stored(key: key, name: .gone, place: place) }
                if json == .null { return Names.Stored(key: key, name: .unknown, place: place) }
                guard let id = ServiceID(json) else { throw Unreadable() }
                return Names.Stored(key: key, name: .assigned(id), place: place)
            }
        }
    }

    /// Stores the name of a record, as JSON: null if the server has not said its id. There is no value for a record that
    /// does not exist. A key that the server kept needs no name.
    static func put(_ name: Names.Stored, in database: Database) throws {
        let id: JSONValue?
        switch name.name {
        case .assigned(let assigned) where assigned.description == name.key: return
        case .queued: return
        case .assigned(let assigned): id = assigned.json
        case .unknown: id = .null
        case .gone: id = nil
        }
        try database.execute(
            "INSERT OR REPLACE INTO names (key, id, place) VALUES (?, ?, ?)",
            .text(name.key), try json(id), SQLiteValue(name.place))
        try database.execute(
            "DELETE FROM names WHERE number <= (SELECT max(number) FROM names) - ?", SQLiteValue(Names.limit))
    }

    fileprivate struct Unreadable: Error {}

    private static func reading<Value>(_ what: String, in database: Database, _ body: () throws -> Value) throws
        -> Value
    {
        do { return try body() } catch { throw DatabaseFailure(database.path, .damaged("\(what) cannot be read")) }
    }
}

extension SQLiteRow {
    /// Returns the JSON in a column; nil if the column is null.
    fileprivate func json(_ column: Int) throws -> JSONValue? {
        try bytes(column).map { try JSONValue(parsing: $0[...], maximumDepth: 2048) }
    }
}

extension OutboxWrite {
    /// Reads a row that begins with the columns of a write.
    fileprivate init(_ row: SQLiteRow) throws {
        guard let id = try row.string(1).flatMap(UUID.init(uuidString:)),
            let key = try row.string(2).flatMap(UUID.init(uuidString:)), let path = try row.string(3),
            let method = try row.string(4), let lane = try row.string(5), let date = try row.date(7)
        else { throw JournalTables.Unreadable() }
        self.init(
            id: id, key: key, path: path, method: ServiceMethod(rawValue: method),
            recordID: try row.json(JournalTables.recordColumn).flatMap { ServiceID($0) }, data: try row.json(15),
            query: Query(try row.json(12)?.object ?? [:]),
            route: (try row.json(13)?.object ?? [:]).reduce(into: [:]) { $0[$1.key] = $1.value.string },
            date: date, identity: try row.string(6).map(Identity.init), base: try row.json(14),
            entityTag: try row.string(9), lane: lane, idProperty: try row.string(10),
            previous: try row.string(11).flatMap(UUID.init(uuidString:)))
    }
}

extension OutboxFailure {
    fileprivate init(_ json: JSONValue, of write: OutboxWrite, mayHaveExecuted: Bool) throws {
        guard let reason = json["reason"]?.string.flatMap(Reason.init), let wire = json["error"],
            let execution = json["execution"]?.string.flatMap(FeathersError.Execution.init(text:))
        else { throw JournalTables.Unreadable() }
        var error = FeathersError(wire: wire)
        error.execution = execution
        self.init(write: write, reason: reason, error: error, mayHaveExecuted: mayHaveExecuted)
    }
}
