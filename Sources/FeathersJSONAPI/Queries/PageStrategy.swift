public import FeathersCore

/// How pages are asked for, which JSON:API leaves to the server, and where the server says how many records there are.
public struct PageStrategy: Sendable {
    let items: @Sendable (_ limit: Int?, _ skip: Int?) throws -> [JSONAPIQueryItem]
    let total: @Sendable (_ meta: JSONObject) -> Int?

    /// A strategy of your own.
    /// - Parameters:
    ///   - total: finds how many records match in all in a document's meta; `total` and `page.total` unless given.
    ///   - items: gives the parameters for a query's `$limit` and `$skip`; a `FeathersError` it throws reaches the caller.
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

    /// `page[number]` from 1 and `page[size]`. What is skipped must be whole pages.
    public static let number = PageStrategy { limit, skip in
        guard let limit else {
            guard (skip ?? 0) == 0 else { throw refusal("'$skip' needs a '$limit': pages are asked for by their numbers") }
            return []
        }
        let skip = skip ?? 0
        guard limit > 0, skip % limit == 0 else {
            throw refusal("'$skip' must be a multiple of '$limit': pages are asked for by their numbers")
        }
        return [JSONAPIQueryItem("page[number]", String(skip / limit + 1)), JSONAPIQueryItem("page[size]", String(limit))]
    }

    /// `page[offset]` and `page[limit]`.
    public static let offset = PageStrategy { limit, skip in
        [skip.map { JSONAPIQueryItem("page[offset]", String($0)) }, limit.map { JSONAPIQueryItem("page[limit]", String($0)) }].compactMap(
            \.self)
    }

    /// `page[size]`, with `page[after]` and `page[before]` from `Query.page(_:_:)`: the cursor pagination profile.
    public static let cursor = PageStrategy { limit, skip in
        guard (skip ?? 0) == 0 else { throw refusal("'$skip' has no form with cursors: use 'page(\"after\", cursor)'") }
        return limit.map { [JSONAPIQueryItem("page[size]", String($0))] } ?? []
    }

    private static func refusal(_ reason: String) -> FeathersError {
        FeathersError(.badRequest, "Query not sent: \(reason)", execution: .neverSent)
    }
}
