public import FeathersCore

/// The parameters of pages, which JSON:API leaves to the server, and the location of the total.
public struct PageStrategy: Sendable {
    let items: @Sendable (_ limit: Int?, _ skip: Int?) throws -> [JSONAPIQueryItem]
    let total: @Sendable (_ meta: JSONObject) -> Int?

    /// Creates a strategy of your own.
    ///
    /// `total` reads the number of matching records from a document's meta; `items` makes the parameters for a query's `$limit` and `$skip`.
    /// Callers receive a `FeathersError` that it throws.
    public init(
        total: @escaping @Sendable (_ meta: JSONObject) -> Int? = PageStrategy.usualTotal,
        items: @escaping @Sendable (_ limit: Int?, _ skip: Int?) throws -> [JSONAPIQueryItem]
    ) {
        self.items = items
        self.total = total
    }

    /// `total`, else `page.total`.
    public static let usualTotal: @Sendable (JSONObject) -> Int? = { meta in
        (meta["total"] ?? meta["page"]?["total"])?.integer.flatMap { Int(exactly: $0) }
    }

    /// `page[number]` from 1 and `page[size]`. The skipped records must be whole pages.
    public static let number = PageStrategy { limit, skip in
        let skip = skip ?? 0
        guard let limit else {
            guard skip == 0 else { throw FeathersError.unsendableQuery("'$skip' needs a '$limit': pages are asked for by their numbers") }
            return []
        }
        guard limit > 0, skip % limit == 0 else {
            throw FeathersError.unsendableQuery("'$skip' must be a multiple of '$limit': pages are asked for by their numbers")
        }
        return [JSONAPIQueryItem("page[number]", String(skip / limit + 1)), JSONAPIQueryItem("page[size]", String(limit))]
    }

    /// `page[offset]` and `page[limit]`.
    public static let offset = PageStrategy { limit, skip in
        [("page[offset]", skip), ("page[limit]", limit)].compactMap { name, count in count.map { JSONAPIQueryItem(name, String($0)) } }
    }

    /// `page[size]`, with `page[after]` and `page[before]` from `Query.page(_:_:)`: the cursor pagination profile.
    public static let cursor = PageStrategy { limit, skip in
        guard (skip ?? 0) == 0 else {
            throw FeathersError.unsendableQuery("'$skip' has no form with cursors: use 'page(\"after\", cursor)'")
        }
        return limit.map { [JSONAPIQueryItem("page[size]", String($0))] } ?? []
    }
}

/// Names of the cursor pagination profile (`https://jsonapi.org/profiles/ethanresnick/cursor-pagination`).
public enum CursorPagination {
    /// The profile's address, for ``JSONAPIOptions/profiles``. Servers with several ways of paging need to be asked for this one.
    public static let profile = "https://jsonapi.org/profiles/ethanresnick/cursor-pagination"
    /// The type of the error that the requested order cannot be paged; see ``JSONAPIErrorObject/typeLinks``.
    public static let unsupportedSort = profile + "/unsupported-sort"
    /// The type of the error that the requested page is too large; see ``JSONAPIErrorObject/maximumPageSize``.
    public static let maxSizeExceeded = profile + "/max-size-exceeded"
    /// The type of the error that a request has both ends of a page, and the server accepts only one.
    public static let rangePaginationNotSupported = profile + "/range-pagination-not-supported"
}
