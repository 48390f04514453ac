import FeathersSupport

extension Service {
    /// Returns the pages of a list. Each page is fetched when you read it.
    ///
    /// ```swift
    /// for try await page in messages.pages(of: 100, keyedBy: "id") {
    ///     show(page.data, page.fraction)
    /// }
    /// ```
    /// - Parameters:
    ///   - query: The query. Its `$limit` applies to all pages together.
    ///   - size: The size of a page. The service's maximum also applies.
    ///   - key: A unique property such as `id`. Pages then continue after the last record instead of using `$skip`, so
    ///     that records are not repeated or missed while others are created and removed. Every property in `$sort` must
    ///     have a string, a number or a Boolean in every record. If these are times or fractions that are more precise on
    ///     the server than in JSON, a page throws ``FeathersError/Code/generalError`` with the reason.
    ///   - prefetch: The number of additional pages that may be fetched together with the next one. Ignored with a
    ///     `key`.
    ///   - params: The params of every call, such as header fields and the timeout for each page.
    public func pages(
        _ query: Query<Model> = Query(), of size: Int = 100, keyedBy key: String? = nil,
        prefetching prefetch: Int = 0, params: Params = Params()
    ) -> Pages<Model> {
        let written = Result { () throws(FeathersError) in
            try params.query.joined(with: query.written(for: codec(for: params)))
        }
        return Pages(
            service: json, query: written, params: params.withoutQuery.withScopedToken(of: app),
            scope: UserScope.current, size: size, key: key, prefetch: max(prefetch, 0), read: page
        ) { json, index in
            try decodeListed(json, at: index, params) { try decodeRecord($0, params) }
        }
    }
}

/// A sequence of the pages of a list; see ``Service/pages(_:of:keyedBy:prefetching:params:)``.
public struct Pages<Model: Sendable>: AsyncSequence, Sendable {
    let service: Service<JSONValue>
    /// The query, or the error if it cannot be written, which the first page throws.
    let query: Result<Query<JSONValue>, FeathersError>
    let params: Params
    /// For whom the pages were created.
    let scope: UserScope?
    let size: Int
    let key: String?
    let prefetch: Int
    /// Parses a result of `find`.
    let read: @Sendable (JSONValue) throws -> Page<JSONValue>
    /// Creates an element from a record and its position in the list; nil to skip it.
    let decode: @Sendable (JSONValue, Int) throws -> Model?

    /// The records of all pages, one by one.
    public var records: some AsyncSequence<Model, any Error> & Sendable { PageRecords(pages: self) }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let pages: Pages
        private var cursor: Result<PageCursor, FeathersError>
        private var fetched: ArraySlice<Page<JSONValue>> = []
        /// The user whose list it is; nil before the first page.
        private var sender: RequestSender?

        init(_ pages: Pages) {
            self.pages = pages
            cursor = Result { () throws(FeathersError) in
                try PageCursor(pages.query.get(), size: pages.size, key: pages.key)
            }
        }

        /// Returns the next page; nil after the last.
        /// - Throws: The errors of `find`, ``FeathersError`` if the list cannot be paged,
        ///   ``FeathersError/Code/notAuthenticated`` after a log-out or another sign-in, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Page<Model>? {
            var cursor = try self.cursor.get()
            let queries = fetched.isEmpty ? try cursor.next(atMost: pages.prefetch + 1) : []
            if fetched.isEmpty, queries.isEmpty { return nil }
            try checkUser()
            if fetched.isEmpty {
                let before =
                    sender ?? (pages.params.token == nil ? pages.service.app.currentSender : RequestSender.ofCall)
                fetched = try await queries.concurrentMap { [pages] in try await pages.page($0) }[...]
                // The first page may have signed the app in.
                sender =
                    sender
                    ?? (before.identity == nil && before !== RequestSender.ofCall
                        ? pages.service.app.currentSender : before)
                try checkUser()
            }
            guard let page = fetched.popFirst() else { return nil }
            let position = cursor.position
            if try !cursor.received(page) { fetched = [] }
            self.cursor = .success(cursor)
            guard cursor.position > position || position == 0 else {
                return cursor.isOver ? nil : try await next(isolation: actor)
            }
            let records = try cursor.news.enumerated().compactMap { try pages.decode(cursor.select($1), position + $0) }
            return Page(
                data: records, total: cursor.total, limit: page.limit ?? page.count, skip: position, extra: page.extra)
        }

        /// One list holds the records of one user.
        fileprivate func checkUser() throws {
            guard let sender, !sender.isCurrent else { return }
            throw FeathersError(
                .notAuthenticated, "The signed-in user changed before the whole list was read", execution: .neverSent)
        }
    }

    private func page(_ query: Query<JSONValue>) async throws -> Page<JSONValue> {
        let request = try service.makeRequest(.find, query: query, params: params)
        return try read(await UserScope.run(in: scope) { try await service.executeCall(request).result })
    }
}

/// The records of all pages of a list. A page is fetched when its first record is read.
private struct PageRecords<Element: Sendable>: AsyncSequence, Sendable {
    let pages: Pages<Element>

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var pages: Pages<Element>.AsyncIterator
        var records: ArraySlice<Element> = []

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            while records.isEmpty {
                guard let page = try await pages.next(isolation: actor) else { return nil }
                records = page.data[...]
            }
            try pages.checkUser()
            return records.popFirst()
        }
    }
}
