/// The pages of a list, one after the other; see ``Service/pages(_:of:keyedBy:prefetching:params:)``.
public struct ServicePages<Element: Sendable>: AsyncSequence, Sendable {
    let service: Service
    let query: Query
    let params: Params
    let size: Int
    let key: String?
    let prefetch: Int
    /// Reads a result of `find`.
    var read: @Sendable (JSONValue) throws -> Paginated<JSONValue> = { try Paginated(json: $0) }
    let decode: @Sendable (JSONValue) throws -> Element

    /// The records of all pages, one by one.
    public var records: ServiceRecords<Element> { ServiceRecords(pages: self) }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let pages: ServicePages
        private var cursor: Result<PageCursor, FeathersError>
        private var fetched: ArraySlice<Paginated<JSONValue>> = []

        init(_ pages: ServicePages) {
            self.pages = pages
            cursor = Result { () throws(FeathersError) in try PageCursor(pages.query, size: pages.size, key: pages.key) }
        }

        /// The next page; nil after the last.
        /// - Throws: what `find` throws, ``FeathersError`` for what cannot be paged, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ServicePage<Element>? {
            var cursor = try self.cursor.get()
            if fetched.isEmpty { fetched = try await pages.fetch(cursor.next(atMost: pages.prefetch + 1))[...] }
            guard let page = fetched.popFirst() else { return nil }
            let position = cursor.position
            if try !cursor.received(page) { fetched = [] }
            self.cursor = .success(cursor)
            guard !page.isEmpty || position == 0 else { return nil }
            return ServicePage(
                records: try page.data.map { try pages.decode(cursor.select($0)) }, position: position, expected: cursor.expected,
                total: cursor.total)
        }
    }

    /// Fetches several pages at once; the first that fails fails them all.
    private func fetch(_ queries: [Query]) async throws -> [Paginated<JSONValue>] {
        guard queries.count > 1 else { return try await queries.isEmpty ? [] : [page(queries[0])] }
        return try await withThrowingTaskGroup(of: (Int, Paginated<JSONValue>).self) { group in
            for (index, query) in queries.enumerated() { group.addTask { (index, try await page(query)) } }
            var pages: [Int: Paginated<JSONValue>] = [:]
            for try await (index, page) in group { pages[index] = page }
            return queries.indices.compactMap { pages[$0] }
        }
    }

    private func page(_ query: Query) async throws -> Paginated<JSONValue> {
        try read(await service.find(query, params: params))
    }
}
