import FeathersSupport

extension UntypedService {
    /// Returns the pages of a list. Each page is fetched when you read it.
    ///
    /// ```swift
    /// for try await page in messages.pages(of: 100, keyedBy: "id") { show(page.records, page.fraction) }
    /// ```
    /// - Parameters:
    ///   - query: the query. Its `$limit` applies to all pages together.
    ///   - size: the size of a page. The service's maximum also applies.
    ///   - key: a unique property such as `id`. Pages then continue after the last record instead of using `$skip`, so that records are not
    ///     repeated or missed while others are created and removed. Every property in `$sort` must have a value in every record.
    ///   - prefetch: the number of additional pages that may be fetched together with the next one. Ignored with a `key`.
    ///   - params: the params of every call, such as header fields and the timeout for each page.
    public func pages(
        _ query: Query = Query(), of size: Int = 100, keyedBy key: String? = nil, prefetching prefetch: Int = 0, params: Params = Params()
    ) -> ServicePages<JSONValue> {
        ServicePages(
            service: self, query: params.query.joined(with: query), params: params.withoutQuery.withScopedToken(of: app), size: size,
            key: key,
            prefetch: max(prefetch, 0)
        ) { record, _ in record }
    }
}

extension TypedService {
    /// Returns the pages of a list as models; see ``UntypedService/pages(_:of:keyedBy:prefetching:params:)``.
    public func pages(
        _ query: Query = Query(), of size: Int = 100, keyedBy key: String? = nil, prefetching prefetch: Int = 0, params: Params = Params()
    ) -> ServicePages<Model> {
        ServicePages(
            service: untyped, query: params.query.joined(with: query), params: params.withoutQuery.withScopedToken(of: untyped.app),
            size: size, key: key,
            prefetch: max(prefetch, 0), read: page
        ) {
            try decodeListed($0, at: $1, params) { try codec(for: params).decode(Model.self, from: $0) }
        }
    }
}

/// A sequence of the pages of a list; see ``UntypedService/pages(_:of:keyedBy:prefetching:params:)``.
public struct ServicePages<Element: Sendable>: AsyncSequence, Sendable {
    let service: UntypedService
    let query: Query
    let params: Params
    let size: Int
    let key: String?
    let prefetch: Int
    /// Parses a result of `find`.
    var read: @Sendable (JSONValue) throws -> Paginated<JSONValue> = { try Paginated(json: $0) }
    /// Creates an element from a record and its position in the list; nil to skip it.
    let decode: @Sendable (JSONValue, Int) throws -> Element?

    /// The records of all pages, one by one.
    public var records: some AsyncSequence<Element, any Error> & Sendable { ServiceRecords(pages: self) }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let pages: ServicePages
        private var cursor: Result<PageCursor, FeathersError>
        private var fetched: ArraySlice<Paginated<JSONValue>> = []
        /// The user whose list it is; nil before the first page.
        private var sender: RequestSender?

        init(_ pages: ServicePages) {
            self.pages = pages
            cursor = Result { () throws(FeathersError) in try PageCursor(pages.query, size: pages.size, key: pages.key) }
        }

        /// Returns the next page; nil after the last.
        /// - Throws: the errors of `find`, ``FeathersError`` if the list cannot be paged, ``FeathersError/Code/notAuthenticated`` after a log-out or
        ///   another sign-in, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ServicePage<Element>? {
            var cursor = try self.cursor.get()
            let queries = fetched.isEmpty ? try cursor.next(atMost: pages.prefetch + 1) : []
            if fetched.isEmpty, queries.isEmpty { return nil }
            try checkUser()
            if fetched.isEmpty {
                let before = sender ?? (pages.params.token == nil ? pages.service.app.currentSender : RequestSender.ofCall)
                fetched = try await queries.concurrentMap { [pages] in try await pages.page($0) }[...]
                // The first page may have signed the app in.
                sender = sender ?? (before.identity == nil && before !== RequestSender.ofCall ? pages.service.app.currentSender : before)
                try checkUser()
            }
            guard let page = fetched.popFirst() else { return nil }
            let position = cursor.position
            if try !cursor.received(page) { fetched = [] }
            self.cursor = .success(cursor)
            guard !page.isEmpty || position == 0 else { return nil }
            let records = try page.data.enumerated().compactMap { try pages.decode(cursor.select($1), position + $0) }
            return ServicePage(records: records, position: position, count: page.count, expected: cursor.expected, total: cursor.total)
        }

        /// One list holds the records of one user.
        fileprivate func checkUser() throws {
            guard let sender, !sender.isCurrent else { return }
            throw FeathersError(.notAuthenticated, "The signed-in user changed before the whole list was read", execution: .neverSent)
        }
    }

    private func page(_ query: Query) async throws -> Paginated<JSONValue> {
        try read(await service.app.withToken(of: params) { try await service.find(query, params: params) })
    }
}

/// A page of a list.
public struct ServicePage<Element: Sendable>: Sendable {
    /// The records of the page.
    public let records: [Element]
    /// The number of records before this page, including skipped ones.
    public let position: Int
    /// The number of records that the service sent, including skipped ones that cannot be decoded.
    let count: Int
    /// The number of records on all pages; nil if the service does not report a total.
    public let expected: Int?
    /// The number of matching records, from the service's `total`; nil if it does not paginate.
    public let total: Int?

    /// The progress up to and including this page, from 0 to 1; nil if the service does not report a total.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : min(Double(position + count) / Double(total), 1)
    }
}

extension ServicePage: Equatable where Element: Equatable {}

/// The records of all pages of a list. A page is fetched when its first record is read.
private struct ServiceRecords<Element: Sendable>: AsyncSequence, Sendable {
    let pages: ServicePages<Element>

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var pages: ServicePages<Element>.AsyncIterator
        var records: ArraySlice<Element> = []

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            while records.isEmpty {
                guard let page = try await pages.next(isolation: actor) else { return nil }
                records = page.records[...]
            }
            try pages.checkUser()
            return records.popFirst()
        }
    }
}
