import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersTesting

/// A clock whose sleepers wake when the test says so, and are counted.
final class HeldClock: Clock {
    private struct State {
        var sleepers: Set<Int> = []
        var lastSleeper = 0
    }

    private let state = ObservedState(State())
    private let start = ContinuousClock().now

    var now: ContinuousClock.Instant { start }
    var minimumResolution: Duration { .zero }
    var sleepers: Int { state.current.sleepers.count }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let sleeper = state.update { state in
            state.lastSleeper += 1
            state.sleepers.insert(state.lastSleeper)
            return state.lastSleeper
        }
        // Counted out at once, like a call.
        try await withTaskCancellationHandler {
            try await state.wait { !$0.sleepers.contains(sleeper) }
            try Task.checkCancellation()
        } onCancel: {
            state.update { _ = $0.sleepers.remove(sleeper) }
        }
    }

    func wakeAll() { state.update { $0.sleepers = [] } }
}

/// A transport whose calls are held until the test answers them. Without a server in reach, calls fail at once.
final class HeldTransport: Transport {
    struct Call: Sendable {
        let number: Int
        let request: ServiceRequest
        let user: String
        /// The number of changes of user before.
        let signIn: Int
        let response: Promise<JSONValue>
        /// The key of a write.
        let key: String?
        var outcome: LocalServer.Outcome?

        var place: LocalPlace { LocalPlace(path: request.path, team: request.params.route["team"]) }

        /// What is sent, without the key.
        var description: String {
            var query = request.params.query.json
            query["key"] = nil
            let id = request.id.map { " \($0)" } ?? ""
            return "\(request.method) \(request.path)\(id) \(request.params.route) \(query) \(request.data ?? .null)"
        }
    }

    struct State: Sendable {
        var calls: [Call] = []
        /// Those that have arrived since the last look.
        var new: [Call] = []
        var lastNumber = 0
        var isReachable: Bool
        /// Whether the process has been killed.
        var isDead = false
        var user = "nobody" { didSet { signIn += 1 } }
        private(set) var signIn = 0
    }

    let state: ObservedState<State>

    init(isReachable: Bool) { state = ObservedState(State(isReachable: isReachable)) }

    func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        try Task.checkCancellation()
        let call: Call? = state.update { state in
            guard state.isReachable, !state.isDead else { return nil }
            state.lastNumber += 1
            let call = Call(
                number: state.lastNumber, request: request, user: state.user, signIn: state.signIn, response: Promise(),
                key: request.params.query.json["key"]?.string
                    ?? request.params.headers["Idempotency-Key"].map {
                        $0.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
                    })
            state.calls.append(call)
            state.new.append(call)
            return call
        }
        guard let call else { throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent) }
        // Taken away at once, so that a call that replaces it is not taken for it.
        return try await withTaskCancellationHandler {
            ServiceResponse(try await call.response.value())
        } onCancel: {
            state.update { state in state.calls.removeAll { $0.number == call.number } }
        }
    }

    func endCalls() { cut(isDead: false, isReachable: state.current.isReachable) }

    func takeNew() -> [Call] {
        state.update { state in
            defer { state.new = [] }
            return state.new
        }
    }

    /// Answers a call with the outcome it had.
    func answer(_ call: Call) {
        state.update { state in state.calls.removeAll { $0.number == call.number } }
        switch call.outcome?.result {
        case .success(let value)?: call.response.resolve(value)
        case .failure(let error)?: call.response.fail(error)
        case nil: call.response.fail(FeathersError(.unavailable, "Lost", execution: .mayHaveExecuted))
        }
    }

    /// Loses all calls in flight.
    func cut(isDead: Bool, isReachable: Bool = false) {
        let lost = state.update { state in
            defer { state.calls = [] }
            (state.isReachable, state.isDead) = (isReachable, state.isDead || isDead)
            return state.calls
        }
        for call in lost {
            call.response.fail(FeathersError(.unavailable, "The connection was lost", execution: .mayHaveExecuted))
        }
    }
}

/// The same with a connection, over which the server pushes events.
final class HeldConnection: RealTimeTransport {
    let held: HeldTransport
    private let statuses: ObservedState<[ConnectionStatus]>
    private let sink = Locked<EventSink?>(nil)

    init(_ held: HeldTransport) {
        self.held = held
        statuses = ObservedState([held.state.current.isReachable ? .connected(recovered: false) : Self.away])
    }

    private static let away = ConnectionStatus.waiting(attempt: 1, delay: .zero, after: .transportClose)

    func send(_ request: ServiceRequest) async throws -> ServiceResponse { try await held.send(request) }
    func endCalls() { held.endCalls() }
    func deliver(to sink: EventSink) { self.sink.withLock { $0 = sink } }
    func use(connectionSetup setup: ConnectionSetup) {}
    func run() async throws { try await statuses.wait { _ in false } }
    func connect() async throws {}
    func disconnect() async {}

    var status: ConnectionStatus { statuses.current.last ?? .offline }

    func statusUpdates() -> AsyncStream<ConnectionStatus> {
        let next = Locked(statuses.current.count - 1)
        return AsyncStream { [statuses] in
            let index = next.withLock { next in
                defer { next += 1 }
                return next
            }
            guard (try? await statuses.wait(until: { $0.count > index })) != nil else { return nil }
            return statuses.current[index]
        }
    }

    func push(_ event: ServiceEvent) {
        sink.withLock { $0 }?.receive(event)
    }

    func lose() {
        held.cut(isDead: false)
        statuses.update { $0.append(Self.away) }
    }

    func restore(recovered: Bool) {
        held.state.update { $0.isReachable = true }
        if !recovered { sink.withLock { $0 }?.receiveGap(.reconnected) }
        statuses.update { $0.append(.connected(recovered: recovered)) }
    }
}
