/// A sorter that applies a query's `$sort` as FeathersJS does.
///
/// The order across types is: missing, null, numbers, strings (by UTF-16 code units), booleans, arrays, objects.
/// Sorting is stable. A nested property of a missing property is missing.
package struct QuerySorter: Sendable {
    private let keys: [(path: QueryPath, isDescending: Bool)]
    private let comparesMoments: Bool

    /// Creates the sorter of a query; nil if the query does not sort.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - comparesMoments: Whether dates in different forms are compared as moments, and not as text and numbers.
    /// - Throws: ``FeathersError/Code/badRequest`` (`Invalid filter value $sort`) if `$sort` is not an object of
    ///   numbers. FeathersJS leaves records unsorted instead.
    package init?(_ query: Query<JSONValue>, comparesMoments: Bool = false) throws(FeathersError) {
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
        (self.keys, self.comparesMoments) = (keys, comparesMoments)
    }

    private func compare(_ left: JSONValue?, _ right: JSONValue?) -> Int {
        if comparesMoments, let left, let right, let order = QueryDate.order(of: left, and: right) { return order }
        return sortingOrder(left, right)
    }

    /// Returns the first of the values by which a record is sorted, so that it is looked up once for several
    /// comparisons.
    /// - Parameter property: Returns the record's properties.
    package func firstValue(of property: (String) -> JSONValue?) -> JSONValue? {
        keys.isEmpty ? nil : keys[0].path.value(of: property)
    }

    /// Compares the first values of two records and, if they are equal, the others. Returns a negative number, zero or
    /// a positive number.
    /// - Parameters:
    ///   - property: Returns the first record's properties.
    ///   - otherProperty: Returns the other record's properties.
    package func order(
        of first: JSONValue?, _ property: (String) -> JSONValue?, and otherFirst: JSONValue?,
        _ otherProperty: (String) -> JSONValue?
    ) -> Int {
        guard !keys.isEmpty else { return 0 }
        let order = compare(first, otherFirst)
        if order != 0 { return keys[0].isDescending ? -order : order }
        for key in keys.dropFirst() {
            let order = compare(key.path.value(of: property), key.path.value(of: otherProperty))
            if order != 0 { return key.isDescending ? -order : order }
        }
        return 0
    }

    /// Returns the sorted records. Sorting is stable.
    package func sorted(_ records: [JSONValue]) -> [JSONValue] {
        guard !keys.isEmpty, records.count > 1 else { return records }
        // Values are looked up once per record instead of once per comparison.
        let rows = records.map { record in keys.map { $0.path.value(in: record) } }
        let order = records.indices.sorted { left, right in
            for (column, key) in keys.enumerated() {
                let order = compare(rows[left][column], rows[right][column])
                if order != 0 { return (order < 0) != key.isDescending }
            }
            return left < right
        }
        return order.map { records[$0] }
    }
}

/// A selection that reduces records to the properties in a query's `$select`.
package struct QuerySelection: Sendable {
    private let properties: [String]

    /// Creates the selection of a query; nil if the query has none.
    ///
    /// - Parameters:
    ///   - query: the query with the `$select`.
    ///   - id: the name of the id, which is always included.
    /// - Throws: ``FeathersError/Code/badRequest`` (`Invalid filter value $select`) if `$select` is not an array.
    ///   FeathersJS returns empty records for a plain string.
    package init?(_ query: Query<JSONValue>, keeping id: String) throws(FeathersError) {
        guard let select = query.json["$select"], !select.isNull else { return nil }
        guard case .array(let names) = select else {
            throw FeathersError(.badRequest, "Invalid filter value $select", data: ["$select": select])
        }
        properties = names.map { $0.string ?? $0.description } + [id]
    }

    /// Returns the record with the selected properties, in the order of the selection.
    package func callAsFunction(_ record: JSONValue) -> JSONValue {
        guard case .object(let object) = record else { return record }
        var selected = JSONObject(minimumCapacity: properties.count)
        for property in properties {
            if let value = object[property] { selected[property] = value }
        }
        return .object(selected)
    }
}

/// An integer parsed like JavaScript's `parseInt(value, 10)`. FeathersJS parses `$limit`, `$skip` and `$sort` this way,
/// which are strings over REST.
struct ParsedInteger {
    let value: Int?

    init(_ json: JSONValue) {
        switch json {
        case .integer(let integer): value = Int(clamping: integer)
        case .number(let number): value = Int(exactly: number.rounded(.towardZero))
        case .decimal(let decimal): value = Self.leadingInteger(of: decimal.text)
        case .string(let string): value = Self.leadingInteger(of: string)
        case .null, .bool, .array, .object: value = nil
        }
    }

    /// Returns the leading digits of a text after whitespace and a sign, clamped to `Int`.
    private static func leadingInteger(of text: String) -> Int? {
        var digits = text.utf8.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        digits = digits.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty, let text = String(digits) else { return nil }
        let magnitude = Int(text) ?? .max
        return isNegative ? -magnitude : magnitude
    }
}
