// Locks: Functions of the database's thread, inside a transaction of the caller.

import FeathersCore
import FeathersSupport

/// What the server last said of a record, as it is stored.
struct StoredRecord: Sendable {
    let number: Int
    let key: String
    /// The number of the change that brought this state.
    let change: Int
    /// Nil if the record was removed.
    let json: [UInt8]?
}

extension Collection<StoredRecord> {
    /// Returns the records, nil for those that were removed. Parsed as one text, so that they share the strings that are
    /// equal, as the records of a page do.
    /// - Throws: ``DamagedList`` if a record is not JSON.
    func values() throws -> [JSONValue?] {
        var text = [UInt8(ascii: "[")]
        for record in self {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += record.json ?? Array("null".utf8)
        }
        text.append(UInt8(ascii: "]"))
        guard let values = try? JSONValue(parsing: text[...], maximumDepth: 2048).array, values.count == count
        else { throw DamagedList() }
        return zip(self, values).map { $0.json == nil ? nil : $1 }
    }
}

/// The tables of records.
///
///     services  one row for each user, service and route; and one for each list whose records are its own
///     records   what the server last said of a record, once for each of these services
///
/// Each state gets the next number. A list has the number at which it was stored, so that what is newer can be placed
/// in it.
enum RecordTables {
    static let statements = [
        """
        CREATE TABLE services (number INTEGER PRIMARY KEY, size INTEGER NOT NULL, change INTEGER NOT NULL,
        list INTEGER, identity TEXT, path TEXT NOT NULL, route TEXT NOT NULL, property TEXT NOT NULL,
        fields TEXT NOT NULL)
        """,
        "CREATE INDEX services_path ON services (path)",
        "CREATE INDEX services_list ON services (list)",
        """
        CREATE TABLE records (number INTEGER PRIMARY KEY, service INTEGER NOT NULL, change INTEGER NOT NULL,
        key TEXT NOT NULL, json TEXT, UNIQUE (service, key))
        """,
        "CREATE INDEX records_change ON records (service, change)",
    ]

    // MARK: Services

    private static let key = "path = ? AND route = ? AND property = ? AND fields = ? AND identity IS ? AND list IS NULL"

    private static func values(_ key: ServiceKey) -> [SQLiteValue] {
        [
            .text(key.path), .text(key.route), .text(key.property), .text(key.fields),
            SQLiteValue(key.identity?.name),
        ]
    }

    /// Returns the number of a service; nil if the database has none of its records.
    static func service(_ key: ServiceKey, in database: Database) throws -> Int? {
        try database.rows("SELECT number FROM services WHERE \(Self.key)", values(key)) { try $0.requiredNumber(0) }
            .first
    }

    /// Returns the number of a service, which is added if there is none.
    static func addedService(_ key: ServiceKey, in database: Database) throws -> Int {
        if let number = try service(key, in: database) { return number }
        try database.execute(
            """
            INSERT INTO services (size, change, path, route, property, fields, identity)
            VALUES (0, (SELECT ifnull(max(change), 0) FROM services), ?, ?, ?, ?, ?)
            """, values(key))
        return try service(key, in: database) ?? 0
    }

    /// Returns the number of the service that has a list's own records; nil if there is none.
    static func service(of list: Int, in database: Database) throws -> Int? {
        try database.number("SELECT number FROM services WHERE list = ?", SQLiteValue(list))
    }

    /// Returns the number of the service that has a list's own records, which is added if there is none.
    static func addedService(of list: Int, at service: Int, in database: Database) throws -> Int {
        if let number = try self.service(of: list, in: database) { return number }
        try database.execute(
            """
            INSERT INTO services (size, change, list, path, route, property, fields, identity)
            SELECT 0, change, ?, path, route, property, fields, identity FROM services WHERE number = ?
            """, SQLiteValue(list), SQLiteValue(service))
        return try self.service(of: list, in: database) ?? 0
    }

    /// Returns the services of a user, path and route that share their records, with the names of their id properties.
    private static func services(
        _ identity: Identity?, _ path: String, _ route: [String: String], in database: Database
    ) throws -> [(number: Int, property: String)] {
        let sql = """
            SELECT number, property FROM services
            WHERE path = ? AND route = ? AND identity IS ? AND list IS NULL
            """
        let values = [.text(path), .text(ServiceKey.text(of: route)), SQLiteValue(identity?.name)]
        return try database.rows(sql, values) { (try $0.requiredNumber(0), try $0.string(1) ?? "") }
    }

    // MARK: Changes

    /// Numbers grow by one, so that a larger one is that of a damaged file.
    private static let largestChange = 1 << 39

    /// The number of the last change of any record; 0 before the first.
    static func lastChange(in database: Database) throws -> Int {
        try database.number("SELECT max(change) FROM services", atMost: largestChange) ?? 0
    }

    /// Gives a service the number of a change.
    static func changed(_ service: Int, _ change: Int, in database: Database) throws {
        try database.execute(
            "UPDATE services SET change = ? WHERE number = ?", SQLiteValue(change), SQLiteValue(service))
    }

    /// Counts the bytes by which the records of a service have grown.
    static func grew(_ service: Int, by size: Int, in database: Database) throws {
        guard size != 0 else { return }
        try database.execute(
            "UPDATE services SET size = max(size + ?, 0) WHERE number = ?", SQLiteValue(size), SQLiteValue(service))
    }

    /// Stores a state of a record, unless a newer one is known.
    /// - Parameters:
    ///   - json: Nil if the record was removed.
    ///   - change: The number of the state.
    ///   - last: The last change that the state includes.
    ///   - isAdded: Whether a record that is not known is added.
    /// - Returns: The bytes by which the records have grown.
    static func put(
        _ key: String, _ json: [UInt8]?, _ change: Int, after last: Int, isAdded: Bool = true, in service: Int,
        _ database: Database
    ) throws -> Int {
        let value = json.map(SQLiteValue.utf8) ?? .null
        let sql = """
            SELECT number, change, ifnull(length(CAST(json AS BLOB)), 0), json IS ?3 FROM records
            WHERE service = ?1 AND key = ?2
            """
        let old = try database.rows(sql, SQLiteValue(service), .text(key), value) { row in
            (
                number: try row.requiredNumber(0), change: try row.requiredNumber(1),
                size: try row.requiredNumber(2), isSame: try row.flag(3)
            )
        }.first
        guard let old else {
            guard let json, isAdded else { return 0 }
            try database.execute(
                "INSERT INTO records (service, change, key, json) VALUES (?, ?, ?, ?)",
                SQLiteValue(service), SQLiteValue(change), .text(key), value)
            return json.count
        }
        guard !old.isSame, old.change <= last else { return 0 }
        try database.execute(
            "UPDATE records SET change = ?, json = ? WHERE number = ?",
            SQLiteValue(change), value, SQLiteValue(old.number))
        return (json?.count ?? 0) - old.size
    }

    /// Stores what events and responses have said of records that the database knows, or that belong to a replica.
    static func put(
        _ reports: [Report], of identity: Identity?, _ key: LiveStore.Key, adding watches: [ReplicaWatch] = [],
        in database: Database
    ) throws {
        let replicas = try watches.map { (service: try Self.service($0.service, in: database), judge: $0.judge) }
        let last = try lastChange(in: database)
        for service in try services(identity, key.path, key.route, in: database) where service.property == key.id {
            var growth = 0
            let judges = replicas.filter { $0.service == service.number }.map(\.judge)
            for report in reports {
                let isAdded = report.record.map { record in judges.contains { $0.matches(record) } } ?? false
                growth += try put(
                    report.key, report.record?.serialized(), last + 1, after: last, isAdded: isAdded,
                    in: service.number, database)
            }
            try changed(service.number, last + 1, in: database)
            try grew(service.number, by: growth, in: database)
        }
    }

    /// Stores what the response to a write says of its records.
    /// - Returns: The number of the change.
    static func put(_ executed: ExecutedResult, in database: Database) throws -> Int {
        let write = executed.write
        let change = try lastChange(in: database) + 1
        var services = try services(executed.identity, write.path, write.route, in: database)
        if services.isEmpty {
            let key = ServiceKey(
                identity: executed.identity, path: write.path, route: write.route,
                property: write.idProperty ?? "id")
            services = [(try addedService(key, in: database), key.property)]
        }
        for service in services {
            var growth = 0
            for part in LocalWrite.parts(of: write, number: 0, id: service.property) {
                guard let report = part.report(in: executed.result, id: service.property) else { continue }
                growth += try put(
                    report.key, report.record?.serialized(), change, after: .max, in: service.number, database)
            }
            try changed(service.number, change, in: database)
            try grew(service.number, by: growth, in: database)
        }
        return change
    }

    // MARK: Reading

    /// Returns a record; nil if the database does not know it.
    static func record(_ key: String, of service: Int, in database: Database) throws -> StoredRecord? {
        try database.rows(
            "SELECT number, change, json FROM records WHERE service = ? AND key = ?", SQLiteValue(service), .text(key)
        ) { row in
            StoredRecord(
                number: try row.requiredNumber(0), key: key, change: try row.requiredNumber(1), json: row.bytes(2))
        }.first
    }

    /// Returns records that follow others in the order of their changes.
    /// - Parameters:
    ///   - change: The last change of those.
    ///   - number: The number of the last record of that change.
    static func records(
        of service: Int, after change: Int, _ number: Int, atMost count: Int, in database: Database
    ) throws -> [StoredRecord] {
        let sql = """
            SELECT number, change, key, json FROM records
            WHERE service = ?1 AND change >= ?2 AND (change > ?2 OR number > ?3) ORDER BY change, number LIMIT ?4
            """
        let values = [service, change, number, count].map { SQLiteValue($0) }
        return try database.rows(sql, values) { row in
            StoredRecord(
                number: try row.requiredNumber(0), key: try row.string(2) ?? "", change: try row.requiredNumber(1),
                json: row.bytes(3))
        }
    }
}
