/// The readers of a sequence of elements, each with its own stream.
package final class Subscribers<Element: Sendable>: Sendable {
    private struct State {
        var readers: [Int: AsyncStream<Element>.Continuation] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    package init() {}

    /// The current readers. Yield to them outside of all locks.
    package var readers: [AsyncStream<Element>.Continuation] { state.withLock { Array($0.readers.values) } }

    package func yield(_ element: Element) {
        for reader in readers { reader.yield(element) }
    }

    /// Returns a stream of future elements for one reader, until it stops reading.
    /// - Parameters:
    ///   - limit: The number of elements to buffer for a slow reader, at least 1. The oldest are dropped first.
    ///   - first: The first element of the stream. The stream has no reader yet, so it may be passed with a lock held.
    package func stream(bufferingNewest limit: Int, first: Element? = nil) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(max(limit, 1)))
        if let first { continuation.yield(first) }
        let id = state.withLock { state in
            state.nextID += 1
            state.readers[state.nextID] = continuation
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: id) }
        }
        return stream
    }
}
