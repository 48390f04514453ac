import Feathers
import FeathersSupport
import Foundation
import TestBackend

/// A user of the test backend that belongs to one test, and what the backend counts of it.
struct BackendAccount: Sendable {
    struct Counts: Sendable {
        var authentications: Int64
        var refreshes: Int64
        var refused: Int64
        var authenticated: Int64
    }

    let email: String
    let password: String
    let url: URL
    private let control: Service<JSONValue>

    /// The key of a stored token.
    var tokenKey: String { "feathers-jwt \(Origin(url).map { "\($0)" } ?? "")" }

    var credentials: AuthenticationCredentials { .local(email: email, password: password) }

    /// - Parameters:
    ///   - lifetime: how long its tokens live, in seconds.
    ///   - backend: where it is; one of the test's own where every connection is to be cut.
    init(lifetime: Double?, refreshTokens: Bool, on backend: TestBackend = .shared) async throws {
        // Tokens that end in seconds are no test on a machine that does nothing in time.
        if lifetime != nil { try await MachineLoad.settles() }
        url = try await backend.url()
        control = FeathersApp(transport: .rest(url)).service("control")
        let user = try await control.create(
            ["op": "user", "seconds": lifetime.map(JSONValue.number) ?? .null, "refreshTokens": .bool(refreshTokens)])
        email = user["email"]?.string ?? ""
        password = user["password"]?.string ?? ""
    }

    /// Cuts every connection of the backend.
    func cutConnections() async throws {
        try await control.create(["op": "kill"])
    }

    @discardableResult
    func run(_ operation: String, _ fields: JSONObject = [:]) async throws -> JSONValue {
        var data = fields
        data["op"] = .string(operation)
        data["user"] = .string(email)
        return try await control.create(.object(data))
    }

    /// The counts; once they are what is waited for.
    func counts(until counts: JSONObject = [:]) async throws -> Counts {
        let stats = try await run("stats", ["until": .object(counts)])
        func count(_ name: String) -> Int64 { stats[name]?.integer ?? -1 }
        return Counts(
            authentications: count("authentications"), refreshes: count("refreshes"), refused: count("refused"),
            authenticated: count("authenticated"))
    }
}

/// The transports everything is tried over.
enum Route: String, CaseIterable, Sendable {
    case rest, webSocket, polling, feathers6

    func transport(_ url: URL) -> any Transport {
        switch self {
        case .rest: RESTTransport(url)
        case .webSocket: socket(url, [.webSocket])
        case .polling: socket(url, [.polling])
        case .feathers6:
            .feathers6(url.appending(path: "v6")) {
                $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(20))
            }
        }
    }

    private func socket(_ url: URL, _ transports: [SocketIOTransport.EngineTransport]) -> SocketIOTransport {
        .socketIO(url) {
            $0.transports = transports
            $0.reconnection.initialDelay = .milliseconds(20)
            $0.callTimeout = .seconds(30)
        }
    }

    static let realTime: [Route] = [.webSocket, .polling]
}
