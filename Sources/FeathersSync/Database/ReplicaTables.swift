// Locks: Functions of the database's thread, inside a transaction of the caller.

import FeathersCore
import FeathersSupport
import Foundation

/// What a database says of a replica beside its records.
struct ReplicaHead: Sendable {
    /// The number of its list.
    let list: Int
    /// The number of the service that has its records.
    let service: Int
    /// The number of the last change that was placed in it.
    var change: Int
    /// The number of records.
    var count: Int
    /// Whether all records were copied.
    var isComplete: Bool
    /// When it was last up to date; nil before the first copy has ended.
    var date: Date?
    /// The latest version that was received.
    var cursor: ReplicaVersion?
    /// The latest version of the log of removals that was received.
    var logged: ReplicaVersion?
    /// When its ids were last compared with those of the server.
    var compared: Date?
}

/// The tables of replicas. The list of a replica has no order, so that a record joins and leaves it alone.
///
///     replicas  one row for each list that is a replica
///     members   the records of a replica, and the terms by which they are found
///
/// A record of a replica has a row with the property 0.
enum ReplicaTables {
    static let statements = [
        """
        CREATE TABLE replicas (list INTEGER PRIMARY KEY, indexes TEXT NOT NULL, cursor TEXT, logged TEXT, compared REAL)
        """,
        """
        CREATE TABLE members (list INTEGER NOT NULL, property INTEGER NOT NULL, value NOT NULL, record INTEGER NOT NULL,
        PRIMARY KEY (list, property, value, record)) WITHOUT ROWID
        """,
        "CREATE INDEX members_record ON members (record, list, property, value)",
    ]

    // MARK: Heads

    static func head(_ key: ListKey, in database: Database) throws -> ReplicaHead? {
        guard let service = try RecordTables.service(key.service, in: database),
            let list = try ListTables.head(key.text, of: service, in: database)
        else { return nil }
        return try database.rows(
            "SELECT cursor, logged, compared FROM replicas WHERE list = ?", SQLiteValue(list.number)
        ) { row in
            ReplicaHead(
                list: list.number, service: service, change: list.change, count: list.count,
                isComplete: list.isComplete, date: list.date == .distantPast ? nil : list.date,
                cursor: try version(row.bytes(0)), logged: try version(row.bytes(1)), compared: try row.date(2))
        }.first
    }

    private static func version(_ text: [UInt8]?) throws -> ReplicaVersion? {
        guard let text else { return nil }
        guard let version = ReplicaVersion(try? JSONValue(parsing: text[...])) else { throw DamagedList() }
        return version
    }

    /// Returns the head of a replica, which is added if there is none.
    /// - Parameter indexes: The properties by which its records are found.
    static func addedHead(_ key: ListKey, _ indexes: [String], in database: Database) throws -> ReplicaHead {
        let names = try JSONValue.array(indexes.map { .string($0) }).serialized()
        if let head = try head(key, in: database) {
            let known = try database.rows(
                "SELECT indexes FROM replicas WHERE list = ?", SQLiteValue(head.list)
            ) { $0.bytes(0) ?? [] }
            if known.first != names { try changeIndexes(of: head, to: indexes, names, in: database) }
            return head
        }
        let service = try RecordTables.addedService(key.service, in: database)
        let number = try ListTables.nextNumber(in: database)
        try removeMembers(of: number, in: database)
        try database.execute(
            """
            INSERT INTO lists (number, service, query, change, date, shown, count, growth, is_complete, is_sorted,
            is_shaped) VALUES (?, ?, ?, 0, ?, ?, 0, 0, 0, 0, 0)
            """, SQLiteValue(number), SQLiteValue(service), .text(key.text), date(.distantPast), date(.current))
        try database.execute(
            "INSERT OR REPLACE INTO replicas (list, indexes) VALUES (?, ?)", SQLiteValue(number), .utf8(names))
        return ReplicaHead(list: number, service: service, change: 0, count: 0, isComplete: false)
    }

    static func write(_ head: ReplicaHead, in database: Database) throws {
        try database.execute(
            "UPDATE lists SET change = ?, date = ?, count = ?, is_complete = ? WHERE number = ?",
            SQLiteValue(head.change), date(head.date ?? .distantPast), SQLiteValue(head.count),
            SQLiteValue(head.isComplete), SQLiteValue(head.list))
        try database.execute(
            "UPDATE replicas SET cursor = ?, logged = ?, compared = ? WHERE list = ?",
            JournalTables.json(head.cursor?.value), JournalTables.json(head.logged?.value),
            head.compared.map(date) ?? .null, SQLiteValue(head.list))
    }

    private static func date(_ date: Date) -> SQLiteValue { .double(date.timeIntervalSinceReferenceDate) }

    // MARK: Members

    /// Places in a replica what is newer than its last change, as the rules of its query say.
    /// - Returns: Whether anything was.
    @discardableResult
    static func place(
        _ head: inout ReplicaHead, _ judge: QueryJudge, _ indexes: [String], in database: Database
    ) throws -> Bool {
        var (change, number) = (head.change + 1, 0)
        while true {
            let newer = try RecordTables.records(of: head.service, after: change, number, atMost: 1_000, in: database)
            for (record, value) in zip(newer, try newer.values()) {
                let isMember = value.map(judge.matches) ?? false
                let was = try remove(record.number, from: head.list, in: database)
                head.count += (isMember ? 1 : 0) - (was ? 1 : 0)
                if isMember, let value { try add(record.number, value, indexes, to: head.list, in: database) }
            }
            guard let last = newer.last else { break }
            (change, number) = (last.change, last.number)
        }
        let isNewer = number > 0
        if isNewer { head.change = change }
        return isNewer
    }

    /// - Returns: Whether it was a member.
    private static func remove(_ record: Int, from list: Int, in database: Database) throws -> Bool {
        let was = try database.integer(
            "SELECT count(*) FROM members WHERE record = ? AND list = ? AND property = 0", SQLiteValue(record),
            SQLiteValue(list))
        guard was == 1 else { return false }
        try database.execute(
            "DELETE FROM members WHERE record = ? AND list = ?", SQLiteValue(record), SQLiteValue(list))
        return true
    }

    private static func add(
        _ record: Int, _ value: JSONValue, _ indexes: [String], to list: Int, in database: Database
    ) throws {
        let sql = "INSERT OR IGNORE INTO members (list, property, value, record) VALUES (?, ?, ?, ?)"
        for term in [(property: 0, value: SQLiteValue(0))] + ReplicaTerm.all(of: value, indexes) {
            try database.execute(sql, SQLiteValue(list), SQLiteValue(term.property), term.value, SQLiteValue(record))
        }
    }

    private static func changeIndexes(
        of head: ReplicaHead, to indexes: [String], _ names: [UInt8], in database: Database
    ) throws {
        try database.execute("DELETE FROM members WHERE list = ? AND property > 0", SQLiteValue(head.list))
        var last = 0
        while true {
            let numbers = try database.rows(
                "SELECT record FROM members WHERE list = ? AND property = 0 AND value = 0 AND record > ? LIMIT 1000",
                SQLiteValue(head.list), SQLiteValue(last)
            ) { try $0.requiredNumber(0) }
            let records = try records(numbers, in: database)
            for (record, value) in zip(records, try records.values()) {
                if let value { try add(record.number, value, indexes, to: head.list, in: database) }
            }
            guard let next = numbers.last else { break }
            last = next
        }
        try database.execute(
            "UPDATE replicas SET indexes = ? WHERE list = ?", .utf8(names), SQLiteValue(head.list))
    }

    /// Returns the records with these numbers that exist.
    static func records(_ numbers: [Int], in database: Database) throws -> [StoredRecord] {
        try numbers.compactMap { number in
            try database.rows("SELECT key, change, json FROM records WHERE number = ?", SQLiteValue(number)) { row in
                StoredRecord(
                    number: number, key: try row.string(0) ?? "", change: try row.requiredNumber(1), json: row.bytes(2))
            }.first
        }
    }

    /// Returns the keys of the records that belong to a replica, with their versions as SQLite reads them.
    static func versions(of head: ReplicaHead, _ property: String, in database: Database) throws -> [String:
        SQLiteValue]
    {
        let sql = """
            SELECT records.key, json_extract(records.json, ?) FROM members
            JOIN records ON records.number = members.record WHERE members.list = ? AND members.property = 0
            """
        let path = "$.\"\(property)\""
        let pairs = try database.rows(sql, .text(path), SQLiteValue(head.list)) { row in
            (try row.string(0) ?? "", row.text(1).map(SQLiteValue.text) ?? .null)
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Whether a record belongs to a replica.
    static func hasMember(_ key: String, of head: ReplicaHead, in database: Database) throws -> Bool {
        guard let record = try RecordTables.record(key, of: head.service, in: database) else { return false }
        return try database.integer(
            "SELECT count(*) FROM members WHERE record = ? AND list = ? AND property = 0", SQLiteValue(record.number),
            SQLiteValue(head.list)) == 1
    }

    /// The date of the newest replica of a service that has a record; nil without one.
    static func date(of record: Int, in database: Database) throws -> Date? {
        try database.rows(
            """
            SELECT max(lists.date) FROM members JOIN lists ON lists.number = members.list
            WHERE members.record = ? AND members.property = 0
            """, SQLiteValue(record)
        ) { try $0.date(0) }.first ?? nil
    }

    static func removeMembers(of list: Int, in database: Database) throws {
        try database.execute("DELETE FROM members WHERE list = ?", SQLiteValue(list))
    }

    /// Removes what belongs to lists that are gone.
    static func removeRemains(in database: Database) throws {
        try database.execute("DELETE FROM replicas WHERE list NOT IN (SELECT number FROM lists)")
        var last: Int64 = 0
        while let next = try database.integer("SELECT min(list) FROM members WHERE list > ?", .integer(last)) {
            last = next
            let isReplica = try database.integer("SELECT count(*) FROM replicas WHERE list = ?", .integer(next)) == 1
            if !isReplica { try database.execute("DELETE FROM members WHERE list = ?", .integer(next)) }
        }
    }
}
