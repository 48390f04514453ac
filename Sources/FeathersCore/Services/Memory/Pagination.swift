/// How a service pages its lists: FeathersJS' `paginate` option.
public struct Pagination: Sendable, Hashable {
    /// How many records a page has when the query has no usable `$limit`.
    public var `default`: Int

    /// How many records a page has at most, whatever the query says; nil for no maximum.
    public var max: Int?

    /// Pagination; the parameters are the properties of the same names.
    public init(default: Int, max: Int? = nil) {
        self.default = `default`
        self.max = max
    }

    /// The page's size for a query's `$limit`: a negative one, or one that is no number, counts as none.
    func limit(for requested: JSONValue?) -> Int {
        let limit = requested.flatMap { ParsedInteger($0).value }.flatMap { $0 >= 0 ? $0 : nil } ?? `default`
        return min(limit, max ?? .max)
    }
}
