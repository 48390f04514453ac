/// A matcher that tests whether records match a query, as FeathersJS' memory service does.
///
/// Create one matcher for each query, and use it for any number of records. It follows FeathersJS' rules, with the
/// noted exceptions:
/// * An array matches if one of its elements matches, or if the whole array does. Paths pass through arrays.
/// * Null also matches a missing property.
/// * `$gt`, `$gte`, `$lt` and `$lte` never match across types. Strings compare by UTF-16 code units. `$gte` and `$lte`
///   with null match null.
/// * An array or object after `$gt`, `$gte`, `$lt` or `$lte` matches nothing. FeathersJS compares its JavaScript string
///   conversion.
/// * `$limit`, `$skip`, `$sort` and `$select` do not affect matching.
public struct QueryMatcher: Sendable {
    private let clauses: [QueryClause]

    /// Creates a matcher for a query.
    ///
    /// - Parameters:
    ///   - query: the conditions.
    ///   - operators: the operators that the service allows in addition to Feathers' own.
    /// - Throws: ``FeathersError/Code/badRequest`` with FeathersJS' messages: `Invalid query parameter $x` for an
    ///   unknown operator (the error's data is the object that contains it), `Invalid filter value $x` for an unknown
    ///   name at the top level. It also throws for an empty `$or` or `$and`, and for operators mixed with properties.
    public init(_ query: Query<JSONValue>, operators: [QueryOperator] = []) throws(FeathersError) {
        if query.isEmpty {
            clauses = []
        } else {
            try QueryValidation(additional: operators).check(query.json)
            clauses = try QueryCompiler(additional: operators).clauses(of: query.json, isTopLevel: true)
        }
    }

    /// Returns whether a record meets the query's conditions.
    public func matches(_ record: JSONValue) -> Bool { clauses.allSatisfy { $0.matches(record) } }

    /// Returns whether a record meets the query's conditions on the server; nil if only the server knows.
    ///
    /// Differs from ``matches(_:)`` in dates. An operand in full ISO 8601, such as `2026-11-26T10:00:00.000Z`, is a
    /// moment, and so is a value that is a date in another form: see ``QueryDate``. For other text, and for numbers
    /// that cannot be a plausible date, the result of the comparison is unknown.
    package func judges(_ record: JSONValue) -> Bool? { QueryClause.all(clauses, judge: record) }
}

/// A custom operator that a service allows, as in FeathersJS' `operators` option.
public struct QueryOperator: Sendable {
    /// The operator's name in queries, such as `$regex`.
    public let name: String

    enum Evaluation: Sendable {
        case test(@Sendable (_ value: JSONValue?, _ operand: JSONValue) -> Bool)
        /// `$and` below the top level, which groups conditions instead of testing a value.
        case group
    }

    let evaluation: Evaluation

    private init(_ name: String, _ evaluation: Evaluation) {
        self.name = name
        self.evaluation = evaluation
    }

    /// Creates an operator with a closure that evaluates it.
    ///
    /// - Parameters:
    ///   - name: The operator's name in queries, including the `$`.
    ///   - matches: A closure that receives the property's value and the operand in the query. The value is nil if the
    ///     property is missing. For an array, the closure is called with each element, then with the array.
    public init(_ name: String, matches: @escaping @Sendable (_ value: JSONValue?, _ operand: JSONValue) -> Bool) {
        self.init(name, .test(matches))
    }

    /// Evaluates the operator for one value; nil if it groups conditions.
    package func matches(_ value: JSONValue?, _ operand: JSONValue) -> Bool? {
        if case .test(let matches) = evaluation { matches(value, operand) } else { nil }
    }

    /// `$exists`: whether the property exists. Null counts as existing.
    public static let exists = QueryOperator("$exists") { value, operand in (value != nil) == (operand.bool ?? true) }

    /// `$size`: whether the array has this number of elements.
    public static let size = QueryOperator("$size") { value, operand in
        value?.array.map { Int64($0.count) == operand.integer } ?? false
    }

    /// `$and` inside `$or`, which FeathersJS rejects unless the service lists it.
    public static let nestedAnd = QueryOperator("$and", .group)
}

struct QueryCompiler {
    private let custom: [String: QueryOperator]

    init(additional operators: [QueryOperator]) { custom = Dictionary(operators.map { ($0.name, $0) }) { $1 } }

    /// Compiles the clauses of a query, or of an element of `$or` and `$and`.
    func clauses(of query: JSONObject, isTopLevel: Bool) throws(FeathersError) -> [QueryClause] {
        var clauses: [QueryClause] = []
        for (key, value) in query {
            switch key {
            case "$limit", "$skip", "$sort", "$select":
                if !isTopLevel { throw Self.invalidParameter(key, in: query) }
            case "$or": clauses.append(.any(try group(key, value)))
            case "$and": clauses.append(.all(try group(key, value)))
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

    /// Compiles the tests of a property: one for each operator, or equality with the whole value.
    private func tests(of value: JSONValue) throws(FeathersError) -> [QueryTest] {
        guard case .object(let object) = value, object.contains(where: { $0.key.hasPrefix("$") }) else {
            return [.equals(value)]
        }
        var tests: [QueryTest] = []
        for (name, operand) in object {
            guard name.hasPrefix("$") else {
                throw FeathersError(
                    .badRequest, "Property queries must contain only operations, or exact objects.", data: value)
            }
            tests.append(try test(name, operand, in: object))
        }
        return tests
    }

    private func test(_ name: String, _ operand: JSONValue, in object: JSONObject) throws(FeathersError) -> QueryTest {
        if let custom = custom[name], case .test(let matches) = custom.evaluation {
            return .custom { matches($0, operand) }
        }
        switch name {
        case "$ne": return .notEquals(operand)
        case "$gt": return .ordered(.greater, operand)
        case "$gte": return .ordered(.greaterOrEqual, operand)
        case "$lt": return .ordered(.less, operand)
        case "$lte": return .ordered(.lessOrEqual, operand)
        case "$in": return .isIn(try list(name, operand))
        case "$nin": return .isNotIn(try list(name, operand))
        case "$or", "$and":
            throw FeathersError(
                .badRequest, "Malformed query. \(name) cannot be matched against property.", data: .object(object))
        default: throw Self.invalidParameter(name, in: object)
        }
    }

    /// Returns the values of `$in` and `$nin`. A value that isn't an array is treated as a list of one.
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

/// The validation that FeathersJS performs before it evaluates a query: every `$` name must be allowed.
struct QueryValidation {
    static let standardOperators: Set<String> = ["$in", "$nin", "$lt", "$lte", "$gt", "$gte", "$ne", "$or"]

    static let filters: Set<String> = ["$skip", "$limit", "$sort", "$select", "$or", "$and"]

    let operators: Set<String>

    init(additional operators: [QueryOperator]) { self.operators = Self.standardOperators.union(operators.map(\.name)) }

    func check(_ query: JSONObject) throws(FeathersError) {
        for group in ["$or", "$and"] {
            for element in query[group]?.array ?? [] { try checkOperators(in: element) }
        }
        for (key, value) in query {
            if !key.hasPrefix("$") {
                try checkOperators(in: value)
            } else if !Self.filters.contains(key) {
                throw FeathersError(.badRequest, "Invalid filter value \(key)")
            }
        }
    }

    /// Validates objects at any depth, but not inside arrays, as FeathersJS does.
    private func checkOperators(in value: JSONValue) throws(FeathersError) {
        guard case .object(let object) = value else { return }
        for (key, value) in object {
            if key.hasPrefix("$"), !operators.contains(key) {
                throw FeathersError(.badRequest, "Invalid query parameter \(key)", data: .object(object))
            }
            try checkOperators(in: value)
        }
    }
}
