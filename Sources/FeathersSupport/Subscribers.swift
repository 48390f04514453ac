/// Everybody who reads what happens, each from a stream of their own.
package final class Subscribers<Element: Sendable>: Sendable {
    private struct State {
        var readers: [Int: AsyncStream<Element>.Continuation] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Who reads now: to be told outside of every lock.
    package var readers: [AsyncStream<Element>.Continuation] { state.withLock { Array($0.readers.values) } }

    package func yield(_ element: Element) {
        for reader in readers { reader.yield(element) }
    }

    /// What happens from now on, for one reader, until it stops reading.
    /// - Parameters:
    ///   - limit: how many elements wait for a reader that is slow, at least 1; the oldest go first.
    ///   - first: what the reader finds at once. Nobody reads yet, so that it may be given with a lock held.
    package func stream(buffering limit: Int, first: Element? = nil) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(max(limit, 1)))
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
