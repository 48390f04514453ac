import FeathersCore
import FeathersNetworking

/// Those who observe every event of a connection.
final class EventObservers: Sendable {
    private struct State {
        var readers: [Int: AsyncStream<SocketIOEvent>.Continuation] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    var isEmpty: Bool { state.withLock { $0.readers.isEmpty } }

    func deliver(_ event: SocketIOEvent) {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield(event) }
    }

    func events(buffering limit: Int) -> AsyncStream<SocketIOEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: SocketIOEvent.self, bufferingPolicy: .bufferingNewest(max(limit, 1)))
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
