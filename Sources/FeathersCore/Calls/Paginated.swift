/// A result of `find`: a page with its totals, or a whole list from a service that does not paginate.
///
/// It is a collection of its records.
public struct Paginated<Element: Sendable>: Sendable {
    /// The records.
    public var data: [Element]
    /// The total number of matching records; nil if the service does not paginate.
    public var total: Int?
    /// The maximum number of records on a page; nil if the service does not paginate.
    public var limit: Int?
    /// The number of skipped records; nil if the service does not paginate.
    public var skip: Int?

    /// Creates a page of records, with its total and position if they are known.
    public init(data: [Element], total: Int? = nil, limit: Int? = nil, skip: Int? = nil) {
        self.data = data
        self.total = total
        self.limit = limit
        self.skip = skip
    }

    /// Returns the same page with transformed elements.
    public func map<Other>(_ transform: (Element) throws -> Other) rethrows -> Paginated<Other> {
        Paginated<Other>(data: try data.map(transform), total: total, limit: limit, skip: skip)
    }
}

extension Paginated: Equatable where Element: Equatable {}

extension Paginated: RandomAccessCollection {
    public var startIndex: Int { data.startIndex }
    public var endIndex: Int { data.endIndex }

    public subscript(position: Int) -> Element { data[position] }
}

extension Paginated where Element == JSONValue {
    /// Creates a page from a result of `find`: an array, or an object with `total`, `limit`, `skip` and `data`.
    /// - Throws: ``FeathersError`` if it is neither.
    public init(json: JSONValue) throws {
        if case .array(let records) = json {
            self.init(data: records)
            return
        }
        guard case .object(let page) = json, case .array(let records)? = page["data"] else {
            throw FeathersError(.generalError, "'find' returned neither an array nor a page with 'data'", data: nil)
        }
        func count(_ key: String) -> Int? { page[key]?.integer.flatMap { Int(exactly: $0) } }
        self.init(data: records, total: count("total"), limit: count("limit"), skip: count("skip"))
    }
}
