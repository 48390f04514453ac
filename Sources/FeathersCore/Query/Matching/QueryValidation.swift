/// What FeathersJS checks of a query before it is evaluated: that it holds no `$` names but those allowed.
struct QueryValidation {
    /// The operators every service allows.
    static let standardOperators: Set<String> = ["$in", "$nin", "$lt", "$lte", "$gt", "$gte", "$ne", "$or"]

    /// What may stand at the top level besides properties.
    static let filters: Set<String> = ["$skip", "$limit", "$sort", "$select", "$or", "$and"]

    let operators: Set<String>

    init(additional operators: [QueryOperator]) {
        self.operators = Self.standardOperators.union(operators.map(\.name))
    }

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

    /// Looks through objects, not through arrays, as FeathersJS does.
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
