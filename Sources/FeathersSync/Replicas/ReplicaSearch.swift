// Locks: Values without a lock. `candidates` runs on the database's thread.

import FeathersCore
import FeathersSupport

/// How a query finds the records of a replica: by the terms of one property, in the order of another, or both.
///
/// What it finds are candidates, in the order in which they are judged. Without an order, these are all of them.
struct ReplicaSearch: Sendable {
    /// Some records to judge.
    struct Candidates: Sendable {
        var numbers: [Int] = []
        /// Whether more follow, all of which come later in the order of the query.
        var hasMore = false
    }

    private let list: Int
    private var ranges: [(property: Int, range: ReplicaTerm.Range)]?
    /// The position of the first sorted property among the indexes.
    private var sorted: (index: Int, isDescending: Bool)?

    init(_ query: Query<JSONValue>, of list: Int, _ indexes: [String]) {
        self.list = list
        for (index, name) in indexes.enumerated() {
            guard let condition = query.json[name], let ranges = ReplicaTerm.ranges(of: condition) else { continue }
            self.ranges = ranges.map { (ReplicaTerm.number(of: index, $0.kind), $0) }
            break
        }
        if let first = query.json["$sort"]?.object?.first, let index = indexes.firstIndex(of: first.key),
            let direction = first.value.integer ?? first.value.string.flatMap({ Int64($0) }), direction != 0
        {
            sorted = (index, direction < 0)
        }
    }

    /// The number of candidates that are judged without an order.
    private static let enough = 500

    /// Returns the next candidates.
    /// - Parameters:
    ///   - skipped: The number of candidates that were judged before.
    ///   - count: About how many are wanted; nil for all.
    func candidates(after skipped: Int, _ count: Int?, in database: Database) throws -> Candidates {
        guard let count, let sorted, let kind = try kind(of: sorted.index, in: database),
            let (sql, values) = ordered(ReplicaTerm.number(of: sorted.index, kind), sorted.isDescending),
            try skipped > 0 || !isFew(in: database)
        else { return Candidates(numbers: try all(in: database)) }
        // Records with the same value as the last one may come before it.
        let rows = try database.rows(
            sql + " LIMIT ? OFFSET ?", values + [SQLiteValue(count), SQLiteValue(skipped)]
        ) { (number: try $0.requiredNumber(0), value: $0.double(1) ?? 0) }
        guard rows.count == count, let last = rows.last else { return Candidates(numbers: rows.map(\.number)) }
        let whole = rows.prefix { $0.value != last.value }
        // All of them have one value, so more are wanted.
        if whole.isEmpty { return try candidates(after: skipped, count * 4, in: database) }
        return Candidates(numbers: whole.map(\.number), hasMore: true)
    }

    /// The kind of all values of a property, if their terms have the order of `$sort`.
    private func kind(of index: Int, in database: Database) throws -> ReplicaTerm.Kind? {
        let present = try ReplicaTerm.Kind.allCases.filter { kind in
            try database.integer(
                "SELECT 1 FROM members WHERE list = ? AND property = ? LIMIT 1", SQLiteValue(list),
                SQLiteValue(ReplicaTerm.number(of: index, kind))) == 1
        }
        guard present.count == 1, let only = present.first, ReplicaTerm.sortable.contains(only) else { return nil }
        return only
    }

    /// Returns the statement for the candidates in order; nil if there is none.
    private func ordered(_ property: Int, _ isDescending: Bool) -> (sql: String, values: [SQLiteValue])? {
        let order = "ORDER BY sorted.value \(isDescending ? "DESC" : "ASC"), sorted.record"
        let source = [SQLiteValue(list), SQLiteValue(property)]
        guard let ranges else {
            return ("SELECT record, value FROM members sorted WHERE list = ? AND property = ? \(order)", source)
        }
        // Ranges of the sorted property itself are in its order.
        if let own = ranges.first(where: { $0.property == property })?.range,
            ranges.allSatisfy({ $0.property / 4 == property / 4 })
        {
            let (sql, values) = Self.bounds(own, "sorted")
            return (
                "SELECT record, value FROM members sorted WHERE list = ? AND property = ?\(sql) \(order)",
                source + values
            )
        }
        guard let only = ranges.first, ranges.count == 1, let value = only.range.lowest, value == only.range.highest
        else { return nil }
        return (
            """
            SELECT sorted.record, sorted.value FROM members found JOIN members sorted
            ON sorted.record = found.record AND sorted.list = ? AND sorted.property = ?
            WHERE found.list = ? AND found.property = ? AND found.value = ? \(order)
            """,
            source + [SQLiteValue(list), SQLiteValue(only.property), value]
        )
    }

    private static func bounds(_ range: ReplicaTerm.Range, _ table: String) -> (sql: String, values: [SQLiteValue]) {
        var (sql, values) = ("", [SQLiteValue]())
        if let lowest = range.lowest {
            sql += " AND \(table).value >= ?"
            values.append(lowest)
        }
        if let highest = range.highest {
            sql += " AND \(table).value <= ?"
            values.append(highest)
        }
        return (sql, values)
    }

    /// Whether there are so few candidates that all of them are judged.
    private func isFew(in database: Database) throws -> Bool {
        guard let ranges else { return false }
        var left = Self.enough
        for (property, range) in ranges {
            let (sql, values) = Self.bounds(range, "members")
            let count = try database.rows(
                "SELECT count(*) FROM (SELECT 1 FROM members WHERE list = ? AND property = ?\(sql) LIMIT \(Self.enough))",
                [SQLiteValue(list), SQLiteValue(property)] + values
            ) { try $0.requiredNumber(0) }
            left -= count.first ?? 0
        }
        return left > 0
    }

    /// Returns all candidates, in the order in which their records were stored.
    private func all(in database: Database) throws -> [Int] {
        guard let ranges else {
            return try database.rows(
                "SELECT record FROM members WHERE list = ? AND property = 0 AND value = 0 ORDER BY record",
                SQLiteValue(list)
            ) { try $0.requiredNumber(0) }
        }
        var numbers: Set<Int> = []
        for (property, range) in ranges {
            let (sql, values) = Self.bounds(range, "members")
            numbers.formUnion(
                try database.rows(
                    "SELECT record FROM members WHERE list = ? AND property = ?\(sql)",
                    [SQLiteValue(list), SQLiteValue(property)] + values
                ) { try $0.requiredNumber(0) })
        }
        return numbers.sorted()
    }
}
