extension MemoryService {
    struct Options: Sendable {
        let id: String
        let multi: MultipleRecords
        let pagination: Pagination?
        let operators: [QueryOperator]
        let makeID: (@Sendable (JSONObject) -> ServiceID)?
    }

    /// The methods that may work on several records at once, as in FeathersJS' `multi` option.
    public struct MultipleRecords: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// `create` with an array.
        public static let create = MultipleRecords(rawValue: 1)
        /// `patch` with a nil id.
        public static let patch = MultipleRecords(rawValue: 2)
        /// `remove` with a nil id.
        public static let remove = MultipleRecords(rawValue: 4)

        /// No method, which is FeathersJS' default.
        public static let none: MultipleRecords = []
        /// Every method.
        public static let all: MultipleRecords = [.create, .patch, .remove]
    }
}

/// The page sizes of a service, as in FeathersJS' `paginate` option.
public struct Pagination: Sendable, Hashable {
    /// The size of a page if the query has no valid `$limit`.
    public var `default`: Int
    /// The maximum size of a page; nil for no maximum.
    public var max: Int?

    /// Creates page sizes: a default, and a maximum if there is one.
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
