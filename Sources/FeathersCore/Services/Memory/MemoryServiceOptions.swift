extension MemoryService {
    struct Options: Sendable {
        let id: String
        var multi: MultipleRecords
        var pagination: Pagination?
        let operators: [QueryOperator]
        let makeID: (@Sendable (JSONObject) -> ServiceID)?

        /// The options of a call, whose params may replace some.
        func applying(_ params: Params) -> Options {
            var options = self
            if let multi = params.multi { options.multi = multi }
            if let pagination = params.pagination { options.pagination = pagination }
            return options
        }

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
    /// Nil for whole lists.
    private let `default`: Int?
    private let max: Int?

    /// No pages: `find` returns an array of all records that match, as with FeathersJS' `paginate: false`.
    public static let off = Pagination(default: nil, max: nil)

    private init(default: Int?, max: Int?) { (self.default, self.max) = (`default`, max) }

    /// Creates page sizes: a default, for queries without a valid `$limit`, and a maximum if there is one.
    public init(default: Int, max: Int? = nil) { self.init(default: .some(`default`), max: max) }

    /// The size of a page for a query's `$limit`; nil without pages. A negative number, or a value that is not a number, is ignored.
    func limit(for requested: JSONValue?) -> Int? {
        guard let standard = self.default else { return nil }
        let limit = requested.flatMap { ParsedInteger($0).value }.flatMap { $0 >= 0 ? $0 : nil } ?? standard
        return min(limit, max ?? .max)
    }
}

extension Params {
    /// The page sizes of a ``MemoryService`` for this call, in place of the service's own; never sent.
    ///
    /// A hook that needs every record sets `context.params.pagination = .off`.
    public var pagination: Pagination? {
        get { self[CallPagination.self] }
        set { self[CallPagination.self] = newValue }
    }

    /// The methods that may work on several records of a ``MemoryService`` in this call, in place of the service's own; never sent.
    public var multi: MemoryService.MultipleRecords? {
        get { self[CallMulti.self] }
        set { self[CallMulti.self] = newValue }
    }
}

private enum CallPagination: ParamsKey { typealias Value = Pagination }
private enum CallMulti: ParamsKey { typealias Value = MemoryService.MultipleRecords }
