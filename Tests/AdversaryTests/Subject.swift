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
    let app: @Sendable (_ server: HostileServer, _ deadline: Duration) async throws -> FeathersApp

    /// Reads a record in another way than by connecting and calling `get`.
    var reading: (@Sendable (_ number: Int, _ app: FeathersApp, _ timeout: Duration) async throws -> JSONValue)?

    static let rest = Subject(testDescription: "REST", protocols: ["http"], connects: false) { server, deadline in
        // Secrets, which another origin must not be told.
        let headers = ["Authorization": "Bearer secret", "X-Own": "secret"]
        return FeathersApp(
            transport: .rest(server.url, headers: headers, timeout: deadline, httpClient: ownClient))
    }

    /// A client with connections of its own. A server behaves toward a connection as it did when it was opened.
    static var ownClient: any HTTPClient { PlatformHTTPClient.make(isShared: false) }

    static let webSocket = Subject(
        testDescription: "Socket.IO over WebSocket", protocols: ["http", "socketio", "websocket"], connects: true,
        flood: 10_000_000
    ) { socketIO($0, $1, [.webSocket]) }

    static let polling = Subject(
        testDescription: "Socket.IO over polling", protocols: ["http", "socketio", "polling"], connects: true,
        flood: 1_000_000
    ) { socketIO($0, $1, [.polling]) }

    #if os(Linux)
        /// Elsewhere, no process can trust a certificate of its own.
        static let secure = Subject(testDescription: "REST over TLS", protocols: ["https"], connects: false) {
            server, deadline in
            let certificate = try await Adversary.backend.secureScriptServer().certificate
            let client = try CurlHTTPClient(tls: TLSConfiguration(trust: .certificates(in: certificate)))
            return FeathersApp(transport: .rest(server.url, timeout: deadline, httpClient: client))
        }
    #endif

    static let eventSource = Subject(testDescription: "an event source", protocols: ["events"], connects: false) {
        server, _ in
        FeathersApp(transport: .rest(server.url, httpClient: ownClient))
    } reading: { number, app, timeout in
        let events = app.eventSource("messages/\(number)", as: JSONValue.self, named: "record")
        return try await first(of: events, within: timeout)
    }

    static let feathers6 = Subject(testDescription: "FeathersJS 6", protocols: ["events"], connects: true) {
        server, deadline in
        FeathersApp(transport: .feathers6(server.url) { $0.connectTimeout = deadline })
    } reading: { number, app, timeout in
        let events = app.service("messages").events(.created)
        try await app.connect()
        let event = try await first(of: events, within: timeout)
        // The stream isn't about one record.
        return event == Adversary.record(7) ? Adversary.record(number) : event
    }

    /// The first element of a stream, unless it takes too long.
    private static func first<Stream: AsyncSequence & Sendable>(
        of stream: Stream, within timeout: Duration
    ) async throws -> JSONValue where Stream.Element == JSONValue {
        try await withThrowingTaskGroup(of: JSONValue?.self) { group in
            group.addTask { try await stream.first { _ in true } }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw FeathersError(.timeout, "No event arrived in time")
            }
            defer { group.cancelAll() }
            return (try await group.next() ?? nil) ?? .null
        }
    }

    #if os(Linux)
        static let all = [rest, secure, eventSource, feathers6, webSocket, polling]
    #else
        static let all = [rest, eventSource, feathers6, webSocket, polling]
    #endif

    /// Each way calls and answers go, once.
    static let ways = [rest, webSocket, polling]

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
        if let reading { return try await reading(number, app, timeout) }
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
