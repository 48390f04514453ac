import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Synchronization

@testable import FeathersSocketIO

/// Answers what a case has recorded, and remembers what was asked.
final class ReplayedExchanges: Sendable {
    private struct State {
        var left: [RecordedAuthentication.Exchange]
        var differences: [String] = []
    }

    private let state: Locked<State>

    init(_ exchanges: [RecordedAuthentication.Exchange]) {
        state = Locked(State(left: exchanges))
    }

    /// What was asked otherwise than recorded, and what was never asked.
    var differences: [String] {
        state.withLock { $0.differences + $0.left.map { "never asked: \($0.call)" } }
    }

    func answer(_ call: JSONValue, authorization: String?) throws -> RecordedAuthentication.Exchange {
        try state.withLock { state in
            guard !state.left.isEmpty else {
                state.differences.append("asked without an answer: \(call)")
                throw FeathersError(.generalError, "Nothing recorded")
            }
            let exchange = state.left.removeFirst()
            if exchange.call != call { state.differences.append("asked \(call)\nrecorded \(exchange.call)") }
            if exchange.authorization != authorization {
                state.differences.append(
                    "header \(authorization ?? "none"), recorded \(exchange.authorization ?? "none") for \(call)")
            }
            return exchange
        }
    }
}

/// HTTP whose answers are recorded.
struct ReplayedHTTP: HTTPClient {
    let exchanges: ReplayedExchanges

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try request.body.map { try JSONValue(parsing: $0) } ?? .null
        let target = request.url.absoluteString.dropFirst("http://replay".count)
        let exchange = try exchanges.answer(
            [.string(request.method), .string(String(target)), body], authorization: request.headers["Authorization"])
        return HTTPResponse(
            status: exchange.status ?? 200, body: exchange.answer.isNull ? [] : try exchange.answer.serialized(),
            url: request.url)
    }
}

/// A connection whose answers are recorded: requests become the arguments of an event as they do on every connection.
final class ReplayedSocket: RealTimeTransport {
    let exchanges: ReplayedExchanges
    private let isOpen = Mutex(false)

    init(exchanges: ReplayedExchanges) {
        self.exchanges = exchanges
    }

    func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        let exchange = try exchanges.answer(try CallArguments.array(of: request), authorization: nil)
        return ServiceResponse(try AckResult.read(exchange.answer.array ?? []).get())
    }

    var status: ConnectionStatus { isOpen.withLock { $0 } ? .connected(recovered: false) : .offline }
    func deliver(to sink: EventSink) {}
    func use(connectionSetup setup: ConnectionSetup) {}
    func run() async throws {}
    func connect() async throws { isOpen.withLock { $0 = true } }
    func disconnect() async { isOpen.withLock { $0 = false } }
    func statusUpdates() -> AsyncStream<ConnectionStatus> { AsyncStream { $0.finish() } }
}
