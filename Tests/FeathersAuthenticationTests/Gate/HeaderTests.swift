import FeathersAuthentication
import FeathersCore
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@Suite("The header of calls", .timeLimit(.minutes(10)))
struct HeaderTests {
    private let storage = InMemoryTokenStorage(["feathers-jwt": "stored"])

    @Test(
        "A header the caller has set wins, whatever its case",
        arguments: ["Authorization", "authorization", "AUTHORIZATION"])
    func callerWins(_ name: String) async throws {
        let server = SampleServer(.init(rejected: ["dGhlaXI="]))
        let app = try FeathersApp.sample(server, storage: storage)
        _ = try await app.service("messages").rawFind(params: Params(headers: [name: "Basic dGhlaXI=", "X-Own": "1"]))
        #expect(server.requests(to: "messages").first?.params.headers == [name: "Basic dGhlaXI=", "X-Own": "1"])
    }

    @Test("A refusal of the caller's own header says nothing about the sign-in")
    func callersRefusal() async throws {
        let server = SampleServer(.init(rejected: ["theirs"]))
        let app = try FeathersApp.sample(server, storage: storage)
        try await app.reauthenticate()
        let params = Params(headers: ["Authorization": "Bearer theirs"])
        let error = await failure { try await app.service("messages").rawFind(params: params) }
        #expect(error?.code == .notAuthenticated)
        #expect(app.authentication.result?.accessToken == "stored")
        #expect(try await storage.token(for: "feathers-jwt") == "stored")
    }

    @Test("Name and scheme are the options'; other headers stay")
    func options() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage) { ($0.header, $0.scheme) = ("X-Token", "") }
        _ = try await app.service("messages").rawFind(params: Params(headers: ["X-Own": "1"]))
        #expect(server.requests(to: "messages").first?.params.headers == ["X-Token": "stored", "X-Own": "1"])
    }

    @Test("Local services see the sign-in in the params; what the caller put there stays")
    func params() async throws {
        let server = SampleServer()
        let app = try FeathersApp.sample(server, storage: storage)
        let seen = Locked<[AuthenticationResult?]>([])
        let local = try await app.use(Noting(seen: seen), at: "local")
        _ = try await local.find()
        let own = try await app.reauthenticate()
        var params = Params()
        params[Authentication.self] = own
        _ = try await local.find(params: params)
        #expect(seen.withLock { $0 } == [own, own])
    }

    private actor Noting: ServiceProtocol {
        let seen: Locked<[AuthenticationResult?]>

        init(seen: Locked<[AuthenticationResult?]>) { self.seen = seen }

        func find(_ params: Params) async throws -> JSONValue {
            let result = params[Authentication.self]
            seen.withLock { $0.append(result) }
            return []
        }
    }

    @Test("An app of its own can be released, signed in or not")
    func release() async throws {
        weak var released: FeathersApp?
        weak var transport: StubTransport?
        do {
            let server = SampleServer()
            let app = try FeathersApp.sample(server, storage: storage)
            _ = try await app.service("messages").rawFind()
            try await withFeathersApp(app) { app in _ = try await app.authenticate(.local(email: "a", password: "p")) }
            (released, transport) = (app, server.transport)
        }
        #expect(released == nil)
        #expect(transport == nil)
    }
}
