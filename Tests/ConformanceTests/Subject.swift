import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

/// Something that must behave as a Feathers backend does, whatever carries the calls.
struct Subject: Sendable, CustomTestStringConvertible {
    let testDescription: String

    /// Whether a call's timeout is the transport's to keep; a service in the process is no transport.
    let keepsTimeouts: Bool

    /// Whether a method that no service has is refused; FeathersJS leaves it unanswered over Socket.IO.
    var refusesUnknownMethods = true

    /// Whether calls with header fields reach the server with them; a connection alone carries none.
    var carriesHeaders = true

    /// How the subject sends paths.
    enum PathForm { case none, text, url }
    var paths = PathForm.url

    /// Whether the server's parser of query strings reads arrays of more than 20 elements.
    var readsLongArrays = true

    /// What the subject's protocol has no form for, each with the reason.
    var lacks: [Ability: String] = [:]

    /// What is refused in other words than FeathersJS', by the refusals' descriptions.
    var refusals: [String: OtherRefusal] = [:]

    /// An app whose services are those of the test backend.
    let app: @Sendable () async throws -> FeathersApp

    /// Services registered in the app itself.
    static let memory = Subject(testDescription: "memory", keepsTimeouts: false, paths: .none) {
        let app = FeathersApp()
        for (path, service) in LocalBackend.services() { try await app.use(service, at: path) }
        return app
    }

    /// The same services behind a stub transport.
    static let stub = Subject(testDescription: "stub", keepsTimeouts: true, paths: .none) {
        FeathersApp(transport: StubTransport(services: LocalBackend.services()))
    }

    /// The same services behind a stub transport that keeps a connection.
    static let realTimeStub = Subject(
        testDescription: "real-time stub", keepsTimeouts: true, carriesHeaders: false, paths: .none
    ) {
        let app = FeathersApp(transport: StubRealTimeTransport(services: LocalBackend.services()))
        try await app.connect()
        return app
    }

    /// The test backend over REST, with the platform's HTTP client.
    static let rest = Subject(testDescription: "REST", keepsTimeouts: true) {
        FeathersApp(transport: .rest(try await TestBackend.url()))
    }

    /// A server whose parser of query strings reads arrays of up to 20 elements, over REST.
    static let restOfCommonParser = Subject(
        testDescription: "REST, common parser", keepsTimeouts: true, readsLongArrays: false
    ) {
        FeathersApp(transport: .rest(try await commonParser.url()))
    }

    /// The same server over both: calls over REST, and over the connection what REST cannot carry.
    static let mixedOfCommonParser = Subject(
        testDescription: "REST with Socket.IO, common parser", keepsTimeouts: true, readsLongArrays: false
    ) {
        try await mixed(await commonParser.url()) { $0.standard = .rest }
    }

    static let commonParser = TestBackend(variables: ["ARRAY_LIMIT": "20"])

    /// The test backend over REST, on URLSession.
    static let restOverURLSession = Subject(testDescription: "REST over URLSession", keepsTimeouts: true) {
        FeathersApp(transport: .rest(try await TestBackend.url(), httpClient: URLSessionHTTPClient()))
    }

    /// The test backend over Socket.IO, a WebSocket from the start.
    static let webSocket = Subject(
        testDescription: "Socket.IO over WebSocket", keepsTimeouts: true, refusesUnknownMethods: false,
        carriesHeaders: false, paths: .text
    ) {
        try await socketIO { $0.transports = [.webSocket] }
    }

    /// The test backend over Socket.IO, long-polling only.
    static let polling = Subject(
        testDescription: "Socket.IO over polling", keepsTimeouts: true, refusesUnknownMethods: false,
        carriesHeaders: false, paths: .text
    ) {
        try await socketIO { $0.transports = [.polling] }
    }

    /// The test backend over both: calls over the connection, those of some services over REST.
    static let mixed = Subject(
        testDescription: "Socket.IO with REST", keepsTimeouts: true, refusesUnknownMethods: false, paths: .text
    ) {
        try await mixed(await TestBackend.url()) { routes in
            routes["todos"] = .rest
            routes["messages", .create] = .rest
        }
    }

    /// The test backend over both: calls over REST, events over the connection.
    static let mixedForEvents = Subject(testDescription: "REST with Socket.IO's events", keepsTimeouts: true) {
        try await mixed(await TestBackend.url()) { $0.standard = .rest }
    }

    /// The test backend as FeathersJS 6: calls over HTTP, events over server-sent events.
    static let feathers6 = Subject(testDescription: "FeathersJS 6", keepsTimeouts: true) {
        let app = FeathersApp(transport: .feathers6(try await TestBackend.url().appending(path: "v6")))
        try await app.connect()
        return app
    }

    /// The same, on URLSession.
    static let feathers6OverURLSession = Subject(testDescription: "FeathersJS 6 over URLSession", keepsTimeouts: true) {
        let app = FeathersApp(
            transport: .feathers6(try await TestBackend.url().appending(path: "v6")) {
                $0.httpClient = URLSessionHTTPClient()
            })
        try await app.connect()
        return app
    }

    /// The test backend over REST, as few requests as can be.
    static let limited = Subject(testDescription: "REST with limits and shared reads", keepsTimeouts: true) {
        let app = FeathersApp(transport: .rest(try await TestBackend.url()))
        app.use(hooks: .limiting(to: 4))
        app.use(hooks: .coalescingReads())
        return app
    }

    private static func mixed(_ url: URL, _ configure: (inout TransportRoutes) -> Void) async throws -> FeathersApp {
        let app = FeathersApp(
            transport: .mixed(realTime: socket(url) { $0.transports = [.webSocket] }, rest: .rest(url), configure))
        try await app.connect()
        return app
    }

    /// A connected app; the connection ends with it.
    private static func socketIO(_ configure: (inout SocketIOTransport.Options) -> Void) async throws -> FeathersApp {
        let app = FeathersApp(transport: socket(try await TestBackend.url(), configure))
        try await app.connect()
        return app
    }

    private static func socket(_ url: URL, _ configure: (inout SocketIOTransport.Options) -> Void) -> SocketIOTransport
    {
        .socketIO(url) { options in
            if Environment.choosesURLSessionWebSockets { options.webSocketConnector = URLSessionWebSocketConnector() }
            // The backend may have ten thousand calls of another suite to answer first.
            options.callTimeout = .seconds(60)
            configure(&options)
        }
    }

    /// Our own backend's, since not every server is also a FeathersJS 6 server.
    private static let ofOwnBackend = Environment.backendURL == nil ? [feathers6, feathers6OverURLSession] : []

    static let all: [Subject] =
        [memory, stub, realTimeStub]
        + (TestBackend.isSkipped
            ? []
            : [rest, restOfCommonParser, mixedOfCommonParser, limited, restOverURLSession, webSocket, polling, mixed]
                + [mixedForEvents, jsonAPI] + ofOwnBackend)
}
