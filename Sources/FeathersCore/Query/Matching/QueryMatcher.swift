/// Tells whether records match a query, as FeathersJS' memory service does.
///
/// Made once per query, then asked for each record. The rules, all of them FeathersJS':
/// * An array matches where one of its elements does, or where it does as a whole. Paths lead through arrays.
/// * Null also matches what is missing.
/// * `$gt`, `$gte`, `$lt` and `$lte` never match across types; strings compare by UTF-16 code units. Arrays and objects
///   have no order.
/// * `$limit`, `$skip`, `$sort` and `$select` decide about pages, not about matching: see ``QuerySorter`` and
///   ``QuerySelection``.
public struct QueryMatcher: Sendable {
    private let clauses: [QueryClause]

    /// Prepares a query.
    ///
    /// - Parameters:
    ///   - query: the conditions.
    ///   - operators: what the service allows beyond Feathers' operators.
    /// - Throws: ``FeathersError/Code/badRequest`` worded as FeathersJS words it: `Invalid query parameter $x` for an
    ///   unknown operator (the object it stands in as the error's data), `Invalid filter value $x` for an unknown name at
    ///   the top level; also for an empty `$or` or `$and`, and for operators mixed with properties.
    public init(_ query: Query, operators: [QueryOperator] = []) throws(FeathersError) {
        if query.isEmpty {
            clauses = []
        } else {
            try QueryValidation(additional: operators).check(query.json)
            clauses = try QueryCompiler(additional: operators).clauses(of: query.json, isTopLevel: true)
        }
    }

    /// Whether every record matches, since the query sets no condition.
    public var matchesEverything: Bool { clauses.isEmpty }

    /// Whether a record fulfils the query's conditions.
    public func matches(_ record: JSONValue) -> Bool {
        clauses.allSatisfy { $0.matches(record) }
    }
}
