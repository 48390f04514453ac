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

/// Connects and gives what was thrown instead.
func errorOfConnecting(
    to url: URL, timeout: Duration = .seconds(20), by connector: any WebSocketConnector
) async -> (any Error)? {
    do {
        _ = try await connector.connect(WebSocketRequest(url: url, timeout: timeout))
        return nil
    } catch {
        return error
    }
}
