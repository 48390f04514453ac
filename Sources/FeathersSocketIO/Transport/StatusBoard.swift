import FeathersCore
import FeathersNetworking

/// The status of a connection, and everybody who wants to know of its changes.
final class StatusBoard: Sendable {
    private struct State {
        var status = ConnectionStatus.offline
        var readers: [Int: AsyncStream<ConnectionStatus>.Continuation] = [:]
        var nextID = 0
    }

    /// A reader that reads nothing costs so many entries, then loses the oldest.
    private static let buffer = 64

    private let state = Locked(State())

    var current: ConnectionStatus { state.withLock { $0.status } }

    /// Called by one task at a time, which keeps the order for every reader.
    func set(_ status: ConnectionStatus) {
        tell(note(status))
    }

    /// A status that is the current one, and who is to be told of it.
    struct News: Sendable {
        fileprivate var status: ConnectionStatus
        fileprivate var readers: [AsyncStream<ConnectionStatus>.Continuation]
    }

    /// Makes a status the current one in the same moment as something else, whose lock the caller has: what it returns is told outside.
    func note(_ status: ConnectionStatus) -> News {
        state.withLock { state in
            state.status = status
            return News(status: status, readers: Array(state.readers.values))
        }
    }

    func tell(_ news: News) {
        for reader in news.readers { reader.yield(news.status) }
    }

    func updates() -> AsyncStream<ConnectionStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: ConnectionStatus.self, bufferingPolicy: .bufferingNewest(Self.buffer))
        let id = state.withLock { state in
            state.nextID += 1
            state.readers[state.nextID] = continuation
            // Nobody reads yet, so that nobody is woken inside the lock.
            continuation.yield(state.status)
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: id) }
        }
        return stream
    }
}
