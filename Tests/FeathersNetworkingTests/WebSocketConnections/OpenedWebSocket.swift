import Foundation
import TestBackend

@testable import FeathersNetworking

/// A connection under test and what it delivered, in order.
struct OpenedWebSocket: Sendable {
    let connection: any WebSocketConnection
    private let events: AsyncStream<WebSocketEvent>

    init(_ connection: any WebSocketConnection) {
        let (events, continuation) = AsyncStream.makeStream(of: WebSocketEvent.self)
        self.connection = connection
        self.events = events
        connection.start { event in
            continuation.yield(event)
            if case .closed = event { continuation.finish() }
        }
    }

    init(_ path: String, timeout: Duration = .seconds(20), maximumMessageSize: Int = 64 << 20, closingTimeout: Duration = .seconds(5))
        async throws
    {
        let url = try await TestBackend.webSocketServer().url(path)
        let connector = TestedConnector.make(closingTimeout: closingTimeout)
        self.init(try await connector.connect(WebSocketRequest(url: url, timeout: timeout, maximumMessageSize: maximumMessageSize)))
    }

    /// The next event; nil after the last.
    func next() async -> WebSocketEvent? {
        var iterator = events.makeAsyncIterator()
        return await iterator.next()
    }

    func message() async throws -> WebSocketMessage {
        switch await next() {
        case .message(let message): return message
        case .closed(let closure): throw closure.error ?? WebSocketError(.closed, "closed with \(closure.code)")
        case nil: throw WebSocketError(.closed, "closed before")
        }
    }

    func text() async throws -> String {
        guard case .text(let text) = try await message() else { throw WebSocketError(.protocolViolation, "no text") }
        return text
    }

    /// How it ended; messages before are skipped.
    func closure() async throws -> WebSocketClosure {
        while let event = await next() {
            if case .closed(let closure) = event { return closure }
        }
        throw WebSocketError(.closed, "closed more than once")
    }
}

/// The connector the suites are run against.
enum TestedConnector {
    static func make(tls: TLSConfiguration = TLSConfiguration(), closingTimeout: Duration = .seconds(5)) -> any WebSocketConnector {
        #if os(Linux)
            if Environment.choosesURLSessionWebSockets { return URLSessionWebSocketConnector() }
            return CurlWebSocketConnector(configuration: .init(tls: tls, proxy: .none, closingTimeout: closingTimeout))
        #else
            PlatformWebSocketConnector.make()
        #endif
    }
}

/// Connects and gives what was thrown instead.
func errorOfConnecting(
    to url: URL, timeout: Duration = .seconds(20), by connector: any WebSocketConnector = TestedConnector.make()
) async -> (any Error)? {
    do {
        _ = try await connector.connect(WebSocketRequest(url: url, timeout: timeout))
        return nil
    } catch {
        return error
    }
}
