/// The results of a live query together with what has changed in each; see ``LiveQuery``.
public struct LiveSnapshots<Record: Sendable>: AsyncSequence, Sendable {
    let source: LiveSource<Record>

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: LiveReader(source))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: LiveReader<Record>

        /// The next snapshot that differs from the one before; the first as soon as the result is fetched.
        /// - Throws: ``FeathersError`` where the result cannot be fetched or a record does not decode, `CancellationError`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> LiveSnapshot<Record>? {
            try await reader.next(isolation: actor)
        }
    }
}
