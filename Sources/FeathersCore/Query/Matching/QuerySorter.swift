/// Puts records into the order a query's `$sort` asks for, as FeathersJS does.
///
/// Across types: missing, null, numbers, strings (by UTF-16 code units), booleans, arrays, objects. Records that are
/// equal in every property sorted by keep their order. A path whose intermediate is missing counts as missing.
public struct QuerySorter: Sendable {
    private let keys: [(path: QueryPath, isDescending: Bool)]

    /// The sorter of a query; nil where it does not sort.
    ///
    /// - Throws: ``FeathersError/Code/badRequest`` (`Invalid filter value $sort`) where `$sort` is no object of numbers.
    ///   FeathersJS leaves records unsorted there without a word.
    public init?(_ query: Query) throws(FeathersError) {
        guard let sort = query.json["$sort"] else { return nil }
        guard case .object(let directions) = sort else {
            throw FeathersError(.badRequest, "Invalid filter value $sort", data: ["$sort": sort])
        }
        var keys: [(path: QueryPath, isDescending: Bool)] = []
        for (property, direction) in directions {
            guard let direction = ParsedInteger(direction).value else {
                throw FeathersError(.badRequest, "Invalid filter value $sort", data: ["$sort": sort])
            }
            if direction != 0 { keys.append((QueryPath(property), direction < 0)) }
        }
        self.keys = keys
    }

    /// Whether `left` belongs before `right`.
    public func areInIncreasingOrder(_ left: JSONValue, _ right: JSONValue) -> Bool {
        for (path, isDescending) in keys {
            let order = sortingOrder(path.value(in: left), path.value(in: right))
            if order != 0 { return (order < 0) != isDescending }
        }
        return false
    }

    /// The records in order; equal ones as they came.
    public func sorted(_ records: [JSONValue]) -> [JSONValue] {
        guard !keys.isEmpty, records.count > 1 else { return records }
        // Looked up once per record instead of once per comparison.
        let rows = records.map { record in keys.map { $0.path.value(in: record) } }
        let order = records.indices.sorted { left, right in
            for (column, key) in keys.enumerated() {
                let order = sortingOrder(rows[left][column], rows[right][column])
                if order != 0 { return (order < 0) != key.isDescending }
            }
            return left < right
        }
        return order.map { records[$0] }
    }
}
