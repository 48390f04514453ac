extension MemoryService {
    struct Options: Sendable {
        let id: String
        var multi: MultipleRecords
        var pagination: Pagination?
        let operators: [QueryOperator]
        let makeID: (@Sendable (JSONObject) -> ServiceID)?

        /// Returns the options with the overrides of a call's params applied.
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

    /// The methods that may affect several records at once, as in FeathersJS' `multi` option.
    public enum MultipleRecords: Sendable, Hashable {
        /// No method. This is FeathersJS' default.
        case none
        /// `create` with an array, `patch` and `remove` with a nil id.
        case all
        /// Only the given methods among `create`, `patch` and `remove`.
        case only(Set<ServiceMethod>)
    }
}

/// The page sizes of a service, as in FeathersJS' `paginate` option.
public struct Pagination: Sendable, Hashable {
    /// The default page size; nil for unpaginated lists.
    public let `default`: Int?
    /// The largest page size; nil for no maximum.
    public let max: Int?

    /// No pagination: `find` returns an array of all matching records, like FeathersJS' `paginate: false`.
    public static let off = Pagination(default: nil, max: nil)

    private init(default: Int?, max: Int?) { (self.default, self.max) = (`default`, max) }

    /// Creates page sizes: a default for queries without a valid `$limit`, and an optional maximum.
    public init(default: Int, max: Int? = nil) { self.init(default: .some(`default`), max: max) }

    /// Returns the size of a page for a query's `$limit`; nil without pagination. Negative and nonnumeric values are
    /// ignored.
    func limit(for requested: JSONValue?) -> Int? {
        guard let standard = self.default else { return nil }
        let limit = requested.flatMap { ParsedInteger($0).value }.flatMap { $0 >= 0 ? $0 : nil } ?? standard
        return min(limit, max ?? .max)
    }
}

extension Params {
    /// The page sizes that override those of a ``MemoryService`` for this call. Never sent.
    ///
    /// A hook that needs every record sets `context.params.pagination = .off`.
    public var pagination: Pagination? {
        get { self[CallPagination.self] }
        set { self[CallPagination.self] = newValue }
    }

    /// The methods that may affect several records of a ``MemoryService`` in this call, overriding its own option.
    /// Never sent.
    public var multi: MemoryService.MultipleRecords? {
        get { self[CallMulti.self] }
        set { self[CallMulti.self] = newValue }
    }
}

private enum CallPagination: ParamsKey { typealias Value = Pagination }
private enum CallMulti: ParamsKey { typealias Value = MemoryService.MultipleRecords }
