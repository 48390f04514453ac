/// Turns a query's JSON into clauses.
struct QueryCompiler {
    private let custom: [String: QueryOperator]

    init(additional operators: [QueryOperator]) {
        custom = Dictionary(operators.map { ($0.name, $0) }) { $1 }
    }

    /// The clauses of a query or of an element of `$or` and `$and`.
    func clauses(of query: JSONObject, isTopLevel: Bool) throws(FeathersError) -> [QueryClause] {
        var clauses: [QueryClause] = []
        for (key, value) in query {
            switch key {
            case "$limit", "$skip", "$sort", "$select":
                if !isTopLevel { throw Self.invalidParameter(key, in: query) }
            case "$or":
                clauses.append(.any(try group(key, value)))
            case "$and":
                clauses.append(.all(try group(key, value)))
            default:
                if key.hasPrefix("$") { throw Self.invalidParameter(key, in: query) }
                let path = QueryPath(key)
                for test in try tests(of: value) { clauses.append(.property(path, test)) }
            }
        }
        return clauses
    }

    private func group(_ name: String, _ value: JSONValue) throws(FeathersError) -> [QueryClause] {
        guard case .array(let elements) = value, !elements.isEmpty else {
            throw FeathersError(.badRequest, "\(name) must be a nonempty array", data: [name: value])
        }
        var clauses: [QueryClause] = []
        for element in elements {
            if case .object(let query) = element {
                clauses.append(.all(try self.clauses(of: query, isTopLevel: false)))
            } else {
                clauses.append(.record(.equals(element)))
            }
        }
        return clauses
    }

    /// The tests in a property's value: its operators, or equality with the whole.
    private func tests(of value: JSONValue) throws(FeathersError) -> [QueryTest] {
        guard case .object(let object) = value, object.contains(where: { $0.key.hasPrefix("$") }) else { return [.equals(value)] }
        var tests: [QueryTest] = []
        for (name, operand) in object {
            guard name.hasPrefix("$") else {
                throw FeathersError(.badRequest, "Property queries must contain only operations, or exact objects.", data: value)
            }
            tests.append(try test(name, operand, in: object))
        }
        return tests
    }

    private func test(_ name: String, _ operand: JSONValue, in object: JSONObject) throws(FeathersError) -> QueryTest {
        if let custom = custom[name], case .test(let matches) = custom.evaluation { return .custom { matches($0, operand) } }
        switch name {
        case "$ne": return .isNot(operand)
        case "$gt": return .ordered(.greater, operand)
        case "$gte": return .ordered(.greaterOrEqual, operand)
        case "$lt": return .ordered(.less, operand)
        case "$lte": return .ordered(.lessOrEqual, operand)
        case "$in": return .isIn(try list(name, operand))
        case "$nin": return .isNotIn(try list(name, operand))
        case "$or", "$and":
            throw FeathersError(.badRequest, "Malformed query. \(name) cannot be matched against property.", data: .object(object))
        default: throw Self.invalidParameter(name, in: object)
        }
    }

    /// The values of `$in` and `$nin`; what is no array is a list of one.
    private func list(_ name: String, _ operand: JSONValue) throws(FeathersError) -> [JSONValue] {
        let values = operand.array ?? [operand]
        for case .object(let object) in values where object.contains(where: { $0.key.hasPrefix("$") }) {
            throw FeathersError(.badRequest, "cannot nest $ under \(name)", data: .object([name: operand]))
        }
        return values
    }

    private static func invalidParameter(_ name: String, in object: JSONObject) -> FeathersError {
        FeathersError(.badRequest, "Invalid query parameter \(name)", data: .object(object))
    }
}
