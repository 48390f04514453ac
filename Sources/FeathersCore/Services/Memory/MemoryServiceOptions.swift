extension MemoryService {
    struct Options: Sendable {
        let id: String
        let multi: MultipleRecords
        let pagination: Pagination?
        let operators: [QueryOperator]
        let makeID: (@Sendable (JSONObject) -> ServiceID)?

        func checkMultiple(_ method: ServiceMethod) throws(FeathersError) {
            let isAllowed =
                switch multi {
                case .none: false
                case .all: true
                case .only(let methods): methods.contains(method)
                }
            if !isAllowed { throw FeathersError(.methodNotAllowed, "Can not \(method) multiple entries") }
        }
    }

    /// The methods that may work on several records at once, as in FeathersJS' `multi` option.
    public enum MultipleRecords: Sendable, Hashable {
        /// No method, which is FeathersJS' default.
        case none
        /// `create` with an array, `patch` and `remove` with a nil id.
        case all
        /// Only these of `create`, `patch` and `remove`.
        case only(Set<ServiceMethod>)
    }
}

/// The page sizes of a service, as in FeathersJS' `paginate` option.
public struct Pagination: Sendable, Hashable {
    private let `default`: Int
    private let max: Int?

    /// Creates page sizes: a default, for queries without a valid `$limit`, and a maximum if there is one.
    public init(default: Int, max: Int? = nil) {
        self.default = `default`
        self.max = max
    }

    /// The size of a page for a query's `$limit`. A negative number, or a value that is not a number, is ignored.
    func limit(for requested: JSONValue?) -> Int {
        let limit = requested.flatMap { ParsedInteger($0).value }.flatMap { $0 >= 0 ? $0 : nil } ?? `default`
        return min(limit, max ?? .max)
    }
}
