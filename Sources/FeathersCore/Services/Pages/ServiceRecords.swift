/// The records of all pages of a list, one by one; a page is fetched when its first record is asked for.
public struct ServiceRecords<Element: Sendable>: AsyncSequence, Sendable {
    let pages: ServicePages<Element>

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pages: pages.makeAsyncIterator())
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var pages: ServicePages<Element>.AsyncIterator
        var records: ArraySlice<Element> = []

        /// The next record; nil after the last.
        /// - Throws: what `find` throws, ``FeathersError`` for what cannot be paged, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            while records.isEmpty {
                guard let page = try await pages.next(isolation: actor) else { return nil }
                records = page.records[...]
            }
            return records.popFirst()
        }
    }
}
