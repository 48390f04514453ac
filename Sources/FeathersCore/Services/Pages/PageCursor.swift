/// The state machine that determines which pages of a list to request. Without I/O.
package struct PageCursor: Sendable {
    private enum Order: Sendable {
        /// By `$skip`. Records created or removed in the meantime shift later pages.
        case counted
        /// By the sorted properties of the last record, the last of which is unique. Pages do not shift, and records are
        /// not repeated.
        case keyed([(property: String, isDescending: Bool)], by: String)
    }

    /// A question that must be answered before the next page.
    private enum Doubt: Sendable {
        /// Whether anything is left, because a page after the first was empty although the service has reported more
        /// records. They are requested without the key: a server may compare it as text, because query strings have no
        /// types.
        case rest
        /// Whether the last record still has its values, because a page did not begin with it.
        case last
    }

    private let query: Query<JSONValue>
    private let order: Order
    private let selection: QuerySelection?
    private let start: Int
    /// The maximum number of records on all pages.
    private let bound: Int
    private var size: Int
    private var remaining: Int
    private var isFirst = true
    private var last: JSONValue?
    private var lastPage: [JSONValue] = []
    /// The last record of an earlier page, renewed after 1, 2, 4, 8… pages, so that every cycle of pages is found.
    private var checkpoint: JSONValue?
    private var nextCheckpoint = 1
    private var pageCount = 0
    private(set) var position: Int
    private(set) var total: Int?
    package private(set) var isOver = false
    /// The records of the last page that are new.
    package private(set) var news: [JSONValue] = []
    private var doubt: Doubt?
    /// Whether the last record has been removed or changed, so that the next page cannot begin with it.
    private var isLastGone = false

    /// - Parameters:
    ///   - query: The query. Its `$limit` applies to all pages together, and its `$skip` to the first.
    ///   - size: The size of a page.
    ///   - key: The unique property that separates pages; nil to use `$skip`.
    /// - Throws: ``FeathersError/Code/badRequest`` that names the part of the query that prevents paging.
    package init(_ query: Query<JSONValue>, size: Int, key: String?) throws(FeathersError) {
        guard size > 0 else {
            throw FeathersError(.badRequest, "The page size must be at least 1", execution: .neverSent)
        }
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
                throw FeathersError(
                    .badRequest, "Pages keyed by '\(key)' cannot be combined with $skip", execution: .neverSent)
            }
            if query.json["$sort"]?.object?[key] == nil { query = query.sorted(by: key) }
            order = .keyed(Query.sortedProperties(of: query), by: key)
            query = query.selectingSortedProperties()
        } else {
            order = .counted
        }
        self.query = query
        isOver = remaining == 0
    }

    /// Returns the queries of the next pages, in order. Returns more than one only if they do not depend on each other.
    package func next(atMost count: Int) throws(FeathersError) -> [Query<JSONValue>] {
        guard !isOver else { return [] }
        if doubt == .rest { return [query.skip(position).limit(1)] }
        switch order {
        case .keyed(let keys, let key):
            guard let last else { return [query.limit(requested)] }
            if doubt == .last { return [query.joined(with: Query([key: last[key] ?? .null])).limit(1)] }
            return [try query.after(last, sortedBy: keys, included: beginsWithLast).limit(requested)]
        case .counted:
            // The first page reveals the server's maximum and the total.
            guard !isFirst, let total else { return [page(at: position, remaining)] }
            return (0..<count).map { position + $0 * size }.filter { $0 < total && $0 - position < remaining }.map {
                page(at: $0, remaining - ($0 - position))
            }
        }
    }

    /// Whether the next page must begin with the last record, which proves that the others follow it: a time or a
    /// fraction may be more precise on the server than in JSON.
    private var beginsWithLast: Bool {
        guard case .keyed(let keys, _) = order, let last, size > 1, !isLastGone else { return false }
        return keys.contains { QueryPath($0.property).value(in: last)?.mayBeRounded ?? false }
    }

    /// The number of records to request.
    private var requested: Int { min(size, remaining) + (beginsWithLast ? 1 : 0) }

    private func page(at position: Int, _ remaining: Int) -> Query<JSONValue> {
        let page = query.limit(min(size, remaining))
        return position > 0 ? page.skip(position) : page
    }

    /// Processes the result of the first query from `next(atMost:)`.
    /// - Returns: Whether the results of the other queries are the pages that follow.
    /// - Throws: ``FeathersError/Code/generalError`` if the service returns the same page again, or does not find the
    ///   records after the key of the last one, or the last one by its values.
    @discardableResult package mutating func received(_ page: Page<JSONValue>) throws(FeathersError) -> Bool {
        news = []
        switch doubt {
        case .rest:
            isOver = true
            // In the meantime, records may have been removed, and others created before them.
            guard let left = page.first, !lastPage.contains(left) else { return false }
            throw FeathersError(
                .generalError,
                "The service finds no records after the last one, although there are more: it may compare its key as "
                    + "text. Use paging without a key, or a connection")
        case .last:
            if page.first.map(isLast) == true { throw Self.rounded }
            (doubt, isLastGone) = (nil, true)
            return false
        case nil: break
        }
        let isJoined = beginsWithLast
        if isJoined, case .keyed(_, let key) = order {
            // Other records may have a key that is rounded.
            let isRounded = last?[key]?.mayBeRounded ?? false
            guard let first = page.first, isRounded ? first == last : isLast(first) else {
                if isRounded { throw Self.rounded }
                doubt = .last
                return false
            }
        }
        let records = Array(page.data.dropFirst(isJoined ? 1 : 0))
        if case .keyed = order, !isFirst, records.isEmpty, let total, position < total, remaining > 0 {
            doubt = .rest
            return false
        }
        let (asked, step) = (requested, size)
        if let limit = page.limit, limit > 0 { size = min(size, limit) }
        if case .counted = order { total = page.total ?? total } else if isFirst { total = page.total }
        guard isFirst || records.isEmpty || page.data != lastPage && !isCycle(page) else {
            let ignored = if case .counted = order { "$skip" } else { "the conditions that separate the pages" }
            throw FeathersError(
                .generalError, "The service returns the same records for every page: it does not support \(ignored)")
        }
        (news, isFirst, isLastGone) = (records, false, false)
        (last, lastPage) = (page.last ?? last, page.data)
        position += records.count
        remaining -= min(records.count, remaining)
        let isShort = page.count < min(asked, page.limit.flatMap { $0 > 0 ? $0 : nil } ?? .max)
        // A list that is longer than requested is the whole list, because the service does not paginate.
        let isWhole = page.count > asked && page.total == nil
        isOver = remaining == 0 || records.isEmpty || isShort || isWhole || isAtTotal
        return !isOver && page.count == step
    }

    /// Whether a record is the last one, with the values by which that is sorted.
    private func isLast(_ record: JSONValue) -> Bool {
        guard case .keyed(let keys, _) = order, let last else { return false }
        return keys.allSatisfy { QueryPath($0.property).value(in: record) == QueryPath($0.property).value(in: last) }
    }

    private static let rounded = FeathersError(
        .generalError,
        "The service does not find the last record of a page by the values that it has sent: they may be more precise "
            + "there than in JSON. Sort by the key only, or use paging without a key")

    /// Returns whether a keyed page ends with the record that an earlier one ended with.
    private mutating func isCycle(_ page: Page<JSONValue>) -> Bool {
        guard case .keyed = order, let last = page.last else { return false }
        if last == checkpoint { return true }
        pageCount += 1
        if pageCount == nextCheckpoint { (checkpoint, nextCheckpoint) = (last, nextCheckpoint * 2) }
        return false
    }

    func select(_ record: JSONValue) -> JSONValue { selection?(record) ?? record }

    private var isAtTotal: Bool {
        if case .counted = order, let total { position >= total } else { false }
    }

    private static func count(_ name: String, in query: Query<JSONValue>) throws(FeathersError) -> Int? {
        guard let value = query.json[name] else { return nil }
        guard let count = ParsedInteger(value).value, count >= 0 else {
            throw FeathersError(
                .badRequest, "Paging requires \(name) to be a whole number of at least 0", execution: .neverSent)
        }
        return count
    }
}

extension Query where Model == JSONValue {
    /// Returns a query for the records after the given one, in the order of the query's `$sort`.
    /// - Parameter isIncluded: Whether the record itself is among them.
    /// - Throws: ``FeathersError/Code/generalError`` if the record has no string, number or Boolean in a property of
    ///   the order.
    package func after(_ record: JSONValue, included isIncluded: Bool = false) throws(FeathersError) -> Query {
        try after(record, sortedBy: Self.sortedProperties(of: self), included: isIncluded)
    }

    fileprivate static func sortedProperties(of query: Query) -> [(property: String, isDescending: Bool)] {
        let sort = query.json["$sort"]?.object ?? [:]
        return sort.map { ($0.key, (ParsedInteger($0.value).value ?? 1) < 0) }
    }

    /// Returns a query for the records after the given one: equal in the first properties, then greater in the next.
    fileprivate func after(
        _ record: JSONValue, sortedBy keys: [(property: String, isDescending: Bool)], included: Bool = false
    ) throws(FeathersError) -> Query {
        var alternatives: [Query] = []
        var equal = Query()
        for (index, (property, isDescending)) in keys.enumerated() {
            guard let value = QueryPath(property).value(in: record), value.isPlainValue else {
                throw FeathersError(
                    .generalError,
                    "A record has no string, number or Boolean in '\(property)', which separates its page from the "
                        + "next: use paging without a key")
            }
            let suffix = included && index == keys.count - 1 ? "e" : ""
            alternatives.append(equal.setting(property, [(isDescending ? "$lt" : "$gt") + suffix: value]))
            equal = equal.setting(property, value)
        }
        return any(of: alternatives)
    }

    /// Returns the query with the sorted properties added to the selection, if any, because sorting locally requires
    /// them.
    package func selectingSortedProperties() -> Query {
        guard let select = json["$select"], !select.isNull else { return self }
        return selecting(json["$sort"]?.object?.map { String($0.key.prefix { $0 != "." }) } ?? [])
    }
}

extension JSONValue {
    /// Whether the value of a record can become an operand of a query. An object would be its operators, and an array
    /// the alternatives.
    fileprivate var isPlainValue: Bool {
        switch self {
        case .string, .bool, .integer, .number, .decimal: true
        case .null, .array, .object: false
        }
    }
}
