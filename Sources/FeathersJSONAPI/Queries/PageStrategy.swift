public import FeathersCore

/// The page parameters, which JSON:API leaves to the server, and the location of the total.
public struct PageStrategy: Sendable {
    let items: @Sendable (_ limit: Int?, _ skip: Int?) throws -> [JSONAPIQueryItem]
    let total: @Sendable (_ meta: JSONObject) -> Int?

    /// Creates a custom strategy.
    ///
    /// `total` reads the number of matching records from a document's meta. `items` returns the parameters for a
    /// query's `$limit` and `$skip`; a `FeathersError` that it throws is passed on to the caller.
    public init(
        total: @escaping @Sendable (_ meta: JSONObject) -> Int? = PageStrategy.usualTotal,
        items: @escaping @Sendable (_ limit: Int?, _ skip: Int?) throws -> [JSONAPIQueryItem]
    ) {
        self.items = items
        self.total = total
    }

    /// A function that reads `total`, or `page.total` if `total` is missing.
    public static let usualTotal: @Sendable (JSONObject) -> Int? = { meta in
        (meta["total"] ?? meta["page"]?["total"])?.integer.flatMap { Int(exactly: $0) }
    }

    /// A strategy that writes `page[number]`, starting at 1, and `page[size]`. The skipped records must be whole pages.
    public static let number = PageStrategy { limit, skip in
        let skip = skip ?? 0
        guard let limit else {
            guard skip == 0 else {
                throw FeathersError.unsendableQuery("'$skip' requires a '$limit': pages are requested by number")
            }
            return []
        }
        guard limit > 0, skip % limit == 0 else {
            throw FeathersError.unsendableQuery("'$skip' must be a multiple of '$limit': pages are requested by number")
        }
        return [
            JSONAPIQueryItem("page[number]", String(skip / limit + 1)), JSONAPIQueryItem("page[size]", String(limit)),
        ]
    }

    /// A strategy that writes `page[offset]` and `page[limit]`.
    public static let offset = PageStrategy { limit, skip in
        [("page[offset]", skip), ("page[limit]", limit)].compactMap { name, count in
            count.map { JSONAPIQueryItem(name, String($0)) }
        }
    }

    /// A strategy that writes `page[size]`, with `page[after]` and `page[before]` from `Query.page(_:_:)` (cursor
    /// pagination profile).
    public static let cursor = PageStrategy { limit, skip in
        guard (skip ?? 0) == 0 else {
            throw FeathersError.unsendableQuery("'$skip' is not supported with cursors; use 'page(\"after\", cursor)'")
        }
        return limit.map { [JSONAPIQueryItem("page[size]", String($0))] } ?? []
    }
}

/// Names of the cursor pagination profile (`https://jsonapi.org/profiles/ethanresnick/cursor-pagination`).
public enum CursorPagination {
    /// The profile's URL, for ``JSONAPIOptions/profiles``. A server with several kinds of paging uses this one only on
    /// request.
    public static let profile = "https://jsonapi.org/profiles/ethanresnick/cursor-pagination"
    /// The error type for a sort order that cannot be paged; see ``JSONAPIErrorObject/typeLinks``.
    public static let unsupportedSort = profile + "/unsupported-sort"
    /// The error type for a requested page that is too large; see ``JSONAPIErrorObject/maximumPageSize``.
    public static let maxSizeExceeded = profile + "/max-size-exceeded"
    /// The error type for a request with both ends of a page when the server accepts only one.
    public static let rangePaginationNotSupported = profile + "/range-pagination-not-supported"
}
