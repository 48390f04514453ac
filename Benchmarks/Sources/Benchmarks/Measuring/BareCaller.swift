import Feathers
import Foundation
import Synchronization

/// Calls over a bare WebSocket connection, with the frames of Socket.IO and minimal matching of acknowledgements.
final class BareCaller: Sendable {
    private struct State {
        var nextID = 0
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let connection: any WebSocketConnection
    private let state = Mutex(State())

    init(_ url: URL) async throws {
        let url = url.appending(path: "socket.io/").appending(queryItems: [
            URLQueryItem(name: "EIO", value: "4"), URLQueryItem(name: "transport", value: "websocket"),
        ])
        connection = try await PlatformWebSocketConnector.make().connect(WebSocketRequest(url: url))
        connection.start { [weak self] event in
            switch event {
            case .message(.text(let text)) where text.hasPrefix("43"):
                self?.answered(Int(text.dropFirst(2).prefix { $0.isNumber }) ?? -1)
            case .message: break
            case .closed(let closure):
                self?.failed(closure.error ?? WebSocketError(.closed, "The server closed the connection"))
            }
        }
        try connection.sendNow(.text("40"))
    }

    func call(_ arguments: String) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let id = state.withLock { state in
                state.nextID += 1
                state.waiting[state.nextID] = continuation
                return state.nextID
            }
            do {
                try connection.sendNow(.text("42\(id)\(arguments)"))
            } catch {
                state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: error)
            }
        }
    }

    private func answered(_ id: Int) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
    }

    private func failed(_ error: WebSocketError) {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(throwing: error) }
    }
}
