import FeathersCore
import FeathersNetworking
import FeathersSupport

/// The server's end of a WebSocket without a network: the test is the server.
final class FakeWebSocket: WebSocketConnection {
    private struct State {
        var handler: (@Sendable (WebSocketEvent) -> Void)?
        var early: [WebSocketEvent] = []
        var isClosed = false
        var isSilent = false
        var sendError: WebSocketError?
    }

    let request: WebSocketRequest
    /// What the client sends; its closing counts as `close <code>`.
    let sent = Mailbox<String>()
    private let state = Locked(State())

    init(_ request: WebSocketRequest) {
        self.request = request
    }

    // The client's side.

    func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void) {
        let early = state.withLock { state in
            state.handler = handler
            defer { state.early = [] }
            return state.early
        }
        early.forEach(handler)
    }

    func sendNow(_ message: WebSocketMessage) throws(WebSocketError) {
        let failure: WebSocketError? = state.withLock { $0.isClosed ? WebSocketError(.closed, "closed") : $0.sendError }
        if let failure { throw failure }
        switch message {
        case .text(let text): sent.put(text)
        case .binary(let bytes): sent.put("binary \(bytes)")
        }
    }

    func close(code: UInt16, reason: String) {
        guard !closeOnce() else { return }
        sent.put("close \(code)")
        guard !state.withLock({ $0.isSilent }) else { return }
        deliver(.closed(WebSocketClosure(code: code)))
    }

    // The server's side.

    func deliver(_ texts: String...) {
        for text in texts { deliver(.message(.text(text))) }
    }

    func deliver(_ bytes: [UInt8]) { deliver(.message(.binary(bytes))) }

    /// The connection is cut.
    func cut(_ closure: WebSocketClosure = WebSocketClosure(code: 1006)) {
        guard !closeOnce() else { return }
        deliver(.closed(closure))
    }

    /// From now on the client's closing is not answered.
    func fallSilent() { state.withLock { $0.isSilent = true } }

    func failSending(with error: WebSocketError) { state.withLock { $0.sendError = error } }

    /// Opens the session and the namespace as a server does.
    /// - Returns: the client's CONNECT.
    @discardableResult
    func accept(sid: String = "s", pid: String? = nil, maxPayload: Int = 1_000_000, silence: Int = 45_000) async throws
        -> String
    {
        open(maxPayload: maxPayload, silence: silence)
        let connect = try await sent.next()
        deliver(#"40{"sid":"\#(sid)"\#(pid.map { #","pid":"\#($0)""# } ?? "")}"#)
        return connect
    }

    func open(maxPayload: Int = 1_000_000, silence: Int = 45_000) {
        deliver(
            #"0{"sid":"e","upgrades":[],"pingInterval":\#(silence - 1),"pingTimeout":1,"maxPayload":\#(maxPayload)}"#)
    }

    private func deliver(_ event: WebSocketEvent) {
        let handler = state.withLock { state in
            if state.handler == nil { state.early.append(event) }
            return state.handler
        }
        handler?(event)
    }

    private func closeOnce() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
    }
}

/// Opens fake WebSockets and hands them to the test.
final class FakeWebSockets: WebSocketConnector {
    let opened = Mailbox<FakeWebSocket>()
    private let failure = Locked<WebSocketError?>(nil)

    /// From now on nothing can be opened, or everything again.
    func fail(with error: WebSocketError?) { failure.withLock { $0 = error } }

    func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection {
        if let failure = failure.withLock({ $0 }) { throw failure }
        let socket = FakeWebSocket(request)
        opened.put(socket)
        return socket
    }
}
