import FeathersCore
import FeathersSupport

/// How much is on its way into URLSession, and who waits for it to become less.
final class SendingRoom: Sendable {
    /// How much may be, in bytes; one message may always be larger.
    private static let maximum = 16 << 20
    /// While more than this is, in bytes, those who can wait do.
    private static let highWaterMark = 1 << 20

    private struct Waiter: Sendable {
        var id: UInt64
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var bytes = 0
        var nextID: UInt64 = 0
        var isOver = false
        var waiters: [Waiter] = []
    }

    private let state = Locked(State())

    init() {}

    /// Takes room, and calls `hand` with the lock held where there is some: the order in which it is taken is the order on the wire.
    func take(_ size: Int, waits: Bool, _ hand: () -> Void) -> Bool {
        state.withLock { state in
            let hasRoom = state.bytes == 0 || (waits ? state.bytes < Self.highWaterMark : state.bytes + size <= Self.maximum)
            guard hasRoom else { return false }
            state.bytes += size
            hand()
            return true
        }
    }

    func give(_ size: Int) {
        let admitted = state.withLock { state -> [Waiter] in
            state.bytes -= size
            guard state.bytes < Self.highWaterMark else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in admitted { waiter.continuation.resume() }
    }

    /// Lets everyone go on, to find the connection over.
    func end() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Returns once there may be room.
    /// - Throws: `CancellationError`.
    func wait() async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard !state.isOver, state.bytes >= Self.highWaterMark else { return .success(()) }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
