import Feathers
import Foundation
import TestBackend
import Testing

/// A transport that must survive hostile servers. A new one joins by a case here and the protocols it speaks.
struct Subject: Sendable, CustomTestStringConvertible {
    let testDescription: String

    /// The protocols whose rows of the table concern it.
    let protocols: Set<String>

    /// Whether calls go over a connection. Then what the table says about HTTP answers the requests that open it.
    let connects: Bool

    /// How many packets the long flood has; none where there is no connection to flood.
    var flood = 0

    /// An app that reaches the server, its attempts to connect and its calls bounded by the deadline.
    let app: @Sendable (_ server: HostileServer, _ deadline: Duration) -> FeathersApp

    static let rest = Subject(testDescription: "REST", protocols: ["http"], connects: false) { server, deadline in
        // Secrets, which another origin must not be told.
        let headers = ["Authorization": "Bearer secret", "X-Own": "secret"]
        return FeathersApp(transport: .rest(server.url, headers: headers, timeout: deadline))
    }

    static let webSocket = Subject(
        testDescription: "Socket.IO over WebSocket", protocols: ["http", "socketio", "websocket"], connects: true, flood: 10_000_000
    ) { socketIO($0, $1, [.webSocket]) }

    static let polling = Subject(
        testDescription: "Socket.IO over polling", protocols: ["http", "socketio", "polling"], connects: true, flood: 1_000_000
    ) { socketIO($0, $1, [.polling]) }

    static let all = [rest, webSocket, polling]

    private static func socketIO(
        _ server: HostileServer, _ deadline: Duration, _ transports: [SocketIOTransport.EngineTransport]
    ) -> FeathersApp {
        FeathersApp(
            transport: .socketIO(server.url) {
                $0.path = server.url.path + "/socket.io/"
                $0.transports = transports
                $0.reconnection = .never
                $0.connectTimeout = deadline
                $0.callTimeout = deadline
                // Small, so that what exceeds it is soon sent.
                $0.maximumMessageSize = 1 << 20
            })
    }
}

extension Subject {
    /// Connects where calls need that, and reads a record.
    func read(_ number: Int, from app: FeathersApp, within timeout: Duration) async throws -> JSONValue {
        if connects { try await app.connect() }
        return try await app.service("messages").get(number, params: Params(timeout: timeout))
    }
}

/// What a call, with its connecting, came to.
enum CallEnd: Sendable {
    case answered(JSONValue)
    case failed(FeathersError)

    /// - Throws: what is neither an answer nor a ``FeathersError``, which no call may end with.
    init(of call: () async throws -> JSONValue) async throws {
        do {
            self = .answered(try await call())
        } catch let error as FeathersError {
            self = .failed(error)
        }
    }
}
