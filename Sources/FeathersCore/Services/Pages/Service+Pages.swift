extension Service {
    /// All pages of a list, fetched as they are read.
    ///
    /// ```swift
    /// for try await page in messages.pages(of: 100, keyedBy: "id") { show(page.records, page.fraction) }
    /// ```
    /// - Parameters:
    ///   - query: its `$limit` bounds all pages together.
    ///   - size: how many records a page should have; the service's maximum wins.
    ///   - key: a unique property, `id` for example, to tell pages apart by: then nothing comes twice and nothing is left out where records
    ///     come and go meanwhile, and the service needs not count (`$skip`). Every property sorted by must have a value in every record.
    ///   - prefetch: how many pages may be fetched beside the next one, where pages are counted.
    ///   - params: what goes with every call: header fields, the timeout of each page, your own values.
    public nonisolated func pages(
        _ query: Query = Query(), of size: Int = 100, keyedBy key: String? = nil, prefetching prefetch: Int = 0, params: Params = Params()
    ) -> ServicePages<JSONValue> {
        ServicePages(service: self, query: query, params: params, size: size, key: key, prefetch: max(prefetch, 0)) { $0 }
    }
}

extension TypedService {
    /// All pages of a list as models, fetched as they are read; see ``Service/pages(_:of:keyedBy:prefetching:params:)``.
    public func pages(
        _ query: Query = Query(), of size: Int = 100, keyedBy key: String? = nil, prefetching prefetch: Int = 0, params: Params = Params()
    ) -> ServicePages<Model> {
        ServicePages(service: untyped, query: query, params: params, size: size, key: key, prefetch: max(prefetch, 0), read: page) {
            try decodeRecord($0, params)
        }
    }
}
