/// What `find` gives: a page with its totals, or a whole list from a service that does not paginate.
///
/// It is a collection of its records.
public struct Paginated<Element: Sendable>: Sendable {
    /// The records.
    public var data: [Element]
    /// How many records match in all; nil where the service does not paginate.
    public var total: Int?
    /// How many records a page holds; nil where the service does not paginate.
    public var limit: Int?
    /// How many records were passed over; nil where the service does not paginate.
    public var skip: Int?

    /// Creates a page of records, with the total and the place of the page if they are known.
    public init(data: [Element], total: Int? = nil, limit: Int? = nil, skip: Int? = nil) {
        self.data = data
        self.total = total
        self.limit = limit
        self.skip = skip
    }

    /// The same page of other elements.
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
    /// Reads the result of `find`: an array, or an object with `total`, `limit`, `skip` and `data`.
    /// - Throws: ``FeathersError`` when it is neither.
    public init(json: JSONValue) throws {
        self = try Paginated(source: .tree(json)) { $0.json }
    }
}

extension Paginated {
    /// Reads the result of `find`, and each record as it is told.
    init(source: DecodingSource, _ record: (DecodingSource) throws -> Element) throws {
        if let elements = source.elements {
            self.init(data: try elements.map(record))
            return
        }
        guard let members = source.members, let elements = members["data"]?.elements else {
            throw FeathersError(.generalError, "'find' answered with neither an array nor a page with 'data'", data: nil)
        }
        func count(_ key: String) -> Int? { members[key]?.json.integer.flatMap { Int(exactly: $0) } }
        self.init(data: try elements.map(record), total: count("total"), limit: count("limit"), skip: count("skip"))
    }
}
