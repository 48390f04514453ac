/// Works out which pages of a list to ask for. A state machine without I/O.
struct PageCursor: Sendable {
    /// How pages follow each other.
    private enum Order: Sendable {
        /// By counting (`$skip`): what is inserted or removed meanwhile shifts the pages behind it.
        case counted
        /// By the sorted properties of the last record: nothing shifts, nothing comes twice.
        case keyed([(property: String, isDescending: Bool)])
    }

    private let query: Query
    private let order: Order
    private let selection: QuerySelection?
    private let start: Int
    /// How many records all pages have together at most.
    private let bound: Int
    private var size: Int
    /// How many records may still come.
    private var remaining: Int
    private var isFirst = true
    private var last: JSONValue?
    private var lastPage: [JSONValue] = []
    private(set) var position: Int
    private(set) var total: Int?
    private(set) var isOver = false

    /// - Parameters:
    ///   - query: its `$limit` bounds all pages together, its `$skip` is where the first begins.
    ///   - size: how many records a page should have.
    ///   - key: the unique property that pages are kept apart by; nil for counting.
    /// - Throws: ``FeathersError/Code/badRequest`` naming what in the query cannot be paged.
    init(_ query: Query, size: Int, key: String?) throws(FeathersError) {
        guard size > 0 else { throw FeathersError(.badRequest, "A page needs room for one record at least", execution: .neverSent) }
        start = try Self.count("$skip", in: query) ?? 0
        bound = try Self.count("$limit", in: query) ?? .max
        remaining = bound
        self.size = size
        position = start
        selection = try key.flatMap { key throws(FeathersError) in try QuerySelection(query, keeping: key) }
        var query = query
        query.json["$limit"] = nil
        query.json["$skip"] = nil
        if let key {
            guard start == 0 else {
                throw FeathersError(.badRequest, "Pages that are kept apart by '\(key)' cannot begin with $skip", execution: .neverSent)
            }
            if query.json["$sort"]?.object?[key] == nil { query = query.sorted(by: key) }
            let sort = query.json["$sort"]?.object ?? [:]
            order = .keyed(sort.map { ($0.key, (ParsedInteger($0.value).value ?? 1) < 0) })
            query = query.selectingSortedProperties()
        } else {
            order = .counted
        }
        self.query = query
        isOver = remaining == 0
    }

    /// The queries of the next pages, in order; more than one only where they cannot depend on each other.
    func next(atMost count: Int) throws(FeathersError) -> [Query] {
        guard !isOver else { return [] }
        switch order {
        case .keyed(let keys):
            guard let last else { return [query.limit(min(size, remaining))] }
            return [try query.after(last, sortedBy: keys).limit(min(size, remaining))]
        case .counted:
            // What the server allows and how much there is, the first page tells.
            guard !isFirst, let total else { return [page(at: position, remaining)] }
            return (0..<count).map { position + $0 * size }.filter { $0 < total && $0 - position < remaining }.map {
                page(at: $0, remaining - ($0 - position))
            }
        }
    }

    private func page(at position: Int, _ remaining: Int) -> Query {
        let page = query.limit(min(size, remaining))
        return position > 0 ? page.skip(position) : page
    }

    /// Takes the answer to the first of the queries asked for.
    /// - Returns: whether the answers to the others are the pages that follow.
    /// - Throws: ``FeathersError/Code/generalError`` where a service gives the same page again and again.
    mutating func received(_ page: Paginated<JSONValue>) throws(FeathersError) -> Bool {
        let (asked, step) = (min(size, remaining), size)
        if let limit = page.limit, limit > 0 { size = min(size, limit) }
        if case .counted = order { total = page.total ?? total } else if isFirst { total = page.total }
        guard isFirst || page.isEmpty || page.data != lastPage else {
            throw FeathersError(.generalError, "The service answers every page with the same records: it does not know $skip")
        }
        isFirst = false
        (last, lastPage) = (page.last ?? last, page.data)
        position += page.count
        remaining -= min(page.count, remaining)
        let isShort = page.count < min(asked, size)
        // A list that is longer than asked for is all there is: the service knows no pages.
        let isWhole = page.count > asked && page.total == nil
        isOver = remaining == 0 || page.isEmpty || isShort || isWhole || isAtTotal
        return !isOver && page.count == step
    }

    /// The properties of a record the query selects.
    func select(_ record: JSONValue) -> JSONValue { selection?(record) ?? record }

    private var isAtTotal: Bool {
        if case .counted = order, let total { position >= total } else { false }
    }

    /// How many records all pages have together, as far as the service has told.
    var expected: Int? { total.map { min(max($0 - start, 0), bound) } }

    private static func count(_ name: String, in query: Query) throws(FeathersError) -> Int? {
        guard let value = query.json[name] else { return nil }
        guard let count = ParsedInteger(value).value, count >= 0 else {
            throw FeathersError(.badRequest, "Pages need a \(name) that is a whole number, 0 or more", execution: .neverSent)
        }
        return count
    }
}

extension Query {
    /// The records behind one in the order of these properties: at each, those that are equal before it and greater there.
    fileprivate func after(
        _ record: JSONValue, sortedBy keys: [(property: String, isDescending: Bool)]
    ) throws(FeathersError) -> Query {
        var alternatives: [Query] = []
        var equal = Query()
        for (property, isDescending) in keys {
            guard let value = QueryPath(property).value(in: record), !value.isNull else {
                throw FeathersError(
                    .generalError,
                    "A record has no '\(property)', by which its page should be told from the next: only counting can page it")
            }
            alternatives.append(equal.setting(property, [isDescending ? "$lt" : "$gt": value]))
            equal = equal.setting(property, value)
        }
        return any(of: alternatives)
    }

    /// Selects, where the query selects at all, also what sorting on this side needs.
    package func selectingSortedProperties() -> Query {
        guard let select = json["$select"], !select.isNull else { return self }
        return selecting(json["$sort"]?.object?.map { String($0.key.prefix { $0 != "." }) } ?? [])
    }
}
