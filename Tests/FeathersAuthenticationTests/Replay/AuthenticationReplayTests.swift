import Feathers
import Foundation
import TestBackend
import Testing

@Suite("The recorded authentication traffic", .timeLimit(.minutes(10)))
struct AuthenticationReplayTests {
    @Test(
        "leads the app's own functions to the same requests, and to the same outcome",
        arguments: RecordedAuthentication.all)
    func replay(recorded: RecordedAuthentication) async throws {
        let before = recorded.needsSignIn ? recorded.login : nil
        let exchanges = ReplayedExchanges((before?.exchanges ?? []) + recorded.exchanges)
        let url = try #require(URL(string: "http://replay"))
        let transport: any Transport =
            recorded.isREST
            ? RESTTransport(url, httpClient: ReplayedHTTP(exchanges: exchanges)) : ReplayedSocket(exchanges: exchanges)
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions())
        if !recorded.isREST { try await app.connect() }
        if before != nil { try await app.authenticate(.local(email: "alice@example.com", password: "p4ssw0rd")) }
        let outcome: Result<JSONValue, any Error>
        do { outcome = .success(try await recorded.run(app)) } catch { outcome = .failure(error) }
        #expect(exchanges.differences == [])
        compare(outcome, with: recorded.outcome)
        if case .failure = outcome, recorded.group == "auth" { #expect(app.authentication == .signedOut) }
    }

    private func compare(_ outcome: Result<JSONValue, any Error>, with recorded: JSONValue) {
        switch outcome {
        case .success(let value): #expect(value == recorded["resolved"] ?? .null)
        case .failure(let error as FeathersError):
            let rejected = recorded["rejected"]
            #expect(JSONValue.string(error.message) == rejected?["message"])
            #expect(JSONValue.string(error.name) == rejected?["name"])
            #expect(JSONValue.string(error.className) == rejected?["className"])
            #expect(JSONValue.integer(Int64(error.code.rawValue)) == rejected?["code"])
            #expect(error.data == rejected?["data"])
        case .failure(let error): Issue.record("\(error)")
        }
    }

    @Test("is replayed completely")
    func complete() throws {
        let cases = try RecordedAuthentication.loaded.get()
        for (file, count) in [("rest.json", 30), ("socketio-websocket.json", 22), ("socketio-polling.json", 2)] {
            #expect(cases.count { $0.file == file } >= count)
        }
        #expect(Set(cases.map(\.testDescription)).count == cases.count)
    }
}

extension RecordedAuthentication {
    /// Whether the JavaScript client was signed in; a header of the caller's own must win over that.
    var needsSignIn: Bool {
        name.hasSuffix("after login") || name.hasPrefix("reAuthenticate (cached") || name == "reAuthenticate(true)"
            || name == "users get own record" || (group == "auth-header" && exchanges.first?.authorization != nil)
    }

    /// Does what the JavaScript source says.
    func run(_ app: FeathersApp) async throws -> JSONValue {
        switch call {
        case let call where call.hasPrefix("app.service('users').create("):
            return try await app.service("users").create(sentData)
        case "app.service('users').get(1)": return try await app.service("users").get(1)
        case "app.service('secured').find()": return try await app.service("secured").rawFind()
        case let call where call.hasPrefix("app.service('secured').create("):
            return try await app.service("secured").create(["top": "secret"])
        case let call where call.hasPrefix("{ const r = await app.service('echo').find()"):
            return ["authorization": try await app.service("echo").rawFind()["headers"]?["authorization"] ?? .null]
        case "app.logout()":
            try await app.logOut()
            return .null
        case "app.reAuthenticate()": return try await app.reauthenticate().value
        case "app.reAuthenticate(true)": return try await app.reauthenticate(force: true).value
        case let call where call.hasPrefix("app.reAuthenticate().then(r => Object.keys(r))"):
            return .array(try await app.reauthenticate().value.object?.map { .string($0.key) } ?? [])
        case let call where call.hasPrefix("app.authenticate(") || call.hasPrefix("authenticate("):
            return try await app.authenticate(credentials).value
        case let call where call.hasPrefix("{ const a = await connected("):
            // What the server does then, and what becomes of it, is tried on a server.
            try await app.authenticate(credentials)
            return ["connected": false]
        case let call where call.hasPrefix("secured.find({ headers:"):
            let headers = ["Authorization": exchanges.first?.authorization ?? ""]
            return try await app.service("secured").rawFind(params: Params(headers: headers))
        case let call where call.hasPrefix("app.service('echo').find({ headers:"):
            let headers = ["X-Custom": "yes", "Accept": "application/json;q=1"]
            return try await app.service("echo").rawFind(params: Params(headers: headers))["headers"] ?? .null
        default: throw FeathersError(.notImplemented, "Nobody knows how to replay: \(call)")
        }
    }

    /// The data of the first call.
    private var sentData: JSONValue { exchanges.first?.call[2] ?? .null }

    /// The credentials the client sent, made with the function an app would make them with.
    private var credentials: AuthenticationCredentials {
        let fields = sentData.object ?? [:]
        switch (
            fields["strategy"]?.string, fields["email"]?.string, fields["password"]?.string,
            fields["accessToken"]?.string
        ) {
        case ("local", let email?, let password?, _): return .local(email: email, password: password)
        case ("jwt", _, _, let token?): return .jwt(token)
        case (let strategy, _, _, _): return AuthenticationCredentials(strategy: strategy, fields: fields)
        }
    }
}
