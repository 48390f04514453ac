import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

/// What a transport and its running connection share: the calls, the session, the connection of the moment.
///
/// State machines decide under one lock; continuations, frames and events go out after it is released. Frames are handed to the connection by
/// one thread at a time, which keeps their order, see `drain`.
final class SocketIOClient: Sendable {
    /// Who waits for a call's answer.
    struct Waiter: Sendable {
        let continuation: CheckedContinuation<JSONValue, any Error>
        /// Where the result's text may be left, in place of its tree.
        let resultText: ResultText?

        func resume(with result: Result<JSONValue, any Error>) { continuation.resume(with: result) }
        func resume(throwing error: any Error) { continuation.resume(throwing: error) }
    }

    enum Life: Sendable {
        /// Nobody has asked for a connection, or it was ended on this side.
        case idle
        case running
        /// The connection ended and does not come back by itself.
        case closed(DisconnectReason)
    }

    struct State: Sendable {
        var life = Life.idle
        var link: Link?
        var engine: EngineSession?
        var session: SocketSession
        /// Whether calls go out: the namespace is joined, and what plugins do first is done.
        var isOpen = false
        var calls: CallTable<Waiter>
        /// Frames that wait until the thread that hands frames over comes to them.
        var outbox: [EngineFrame] = []
        var isDraining = false
        /// Calls whose frames this connection did not take.
        var refused: [Int] = []
        var joinDeadline: Duration?
        var hasConnected = false
        /// What the timer sleeps until; nil for as long as nothing has a deadline.
        var timerMoment: Duration?
        var timerSignal = Promise<Void>()
        var retrySignal: Promise<Void>?
        /// What the attempt under way comes to; settled while a connection stands.
        var outcome = Promise<Void>()
        var stopSignal = Promise<Void>()
        var runEnded = Promise<Void>()
        var sink: EventSink?
        var setups: [ConnectionSetup] = []
    }

    let options: SocketIOTransport.Options
    let opener: Result<EngineOpener, FeathersError>
    let timebase: RelativeClock
    let status = CurrentValue(ConnectionStatus.offline)
    let observers = Subscribers<SocketIOEvent>()
    let state: Locked<State>
    let nextID = Atomic<Int>(0)

    init(opener: Result<EngineOpener, FeathersError>, options: SocketIOTransport.Options, timebase: RelativeClock) {
        self.opener = opener
        self.options = options
        self.timebase = timebase
        let limit = if case .wait(let limit) = options.offlineCalls { limit } else { 0 }
        let session = SocketSession(namespace: options.namespace, recovers: options.recoversState)
        state = Locked(State(session: session, calls: CallTable(queueLimit: limit)))
    }

    func report(_ kind: SocketIODiagnostic.Kind, _ description: @autoclosure () -> String) {
        options.onDiagnostic?(SocketIODiagnostic(kind: kind, description: description()))
    }

    /// How many calls wait, to be sent or to be answered.
    var pendingCalls: Int { state.withLock { $0.calls.count } }

    var load: TransportLoad {
        state.withLock { TransportLoad(waiting: $0.calls.queued, unanswered: $0.calls.count - $0.calls.queued) }
    }
}
