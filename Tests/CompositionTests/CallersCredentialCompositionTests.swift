import Feathers
import FeathersTesting
import Foundation
import Testing

/// Calls as another user over a connection, made by live queries, by an outbox, and by local services.
@Suite(.timeLimit(.minutes(10))) struct CallersCredentialCompositionTests {
    private let transport = StubRealTimeTransport(services: ["notes": MemoryService(), "authentication": SignIns()])

    private actor SignIns: ServiceProtocol {
        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
            let name = data["email"] ?? "alice"
            return ["accessToken": "token-of-\(name.string ?? "-")", "user": ["id": name]]
        }
        func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue { ["accessToken": "gone"] }
    }

    private func isRefusal(_ error: (any Error)?) -> Bool {
        guard let error = error as? FeathersError else { return false }
        return error.code == .badRequest && error.execution == .neverSent && error.message.contains("'Authorization'")
    }

    @Test func `A live query as another user ends with the refusal, and sends nothing`() async throws {
        try await withFeathersApp(FeathersApp(transport: transport)) { app in
            let error = await failure {
                for try await _ in app.service("notes").live(
                    params: Params(headers: ["Authorization": "Bearer theirs"]))
                {}
            }
            #expect(isRefusal(error))
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func `A queued write that a hook turns into another user's waits for a decision, with the refusal`()
        async throws
    {
        let folder = try TemporaryFolder()
        let outbox = try await Outbox(file: folder.url.appending(path: "writes.outbox"))
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        app.use(hooks: Hooks(before: [{ $0.params.headers["Authorization"] = "Bearer theirs" }]))
        try await withFeathersApp(app) { app in
            _ = try await app.service("notes").outbox.create(["text": "whose?"])
            var refusal: FeathersError?
            for await state in outbox.stateUpdates() {
                guard let failure = state.entries.first?.failure else { continue }
                refusal = failure.error
                break
            }
            #expect(isRefusal(refusal))
        }
        #expect(transport.requests.isEmpty)
        await outbox.close()
    }

    @Test func `The header field of the app's authentication counts, under any name`() async throws {
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions { $0.header = "X-Token" })
        try await withFeathersApp(app) { app in
            try await app.authenticate(.local(email: "alice", password: ""))
            let error = await failure {
                try await app.service("notes").create([:], params: Params(headers: ["x-token": "theirs"]))
            }
            #expect(error?.code == .badRequest && error?.message.contains("'x-token'") == true)
            try await app.service("notes").create([:])
        }
        #expect(transport.requests.map(\.path) == ["authentication", "notes"])
    }

    @Test func `A local service may pass its params on over a mixed transport, until its user has logged out`()
        async throws
    {
        /// Passes on what it was called with, the second time only after the user has changed.
        actor Forwarding: ServiceProtocol {
            private let app: FeathersApp
            private let lateTransport: any Transport

            init(app: FeathersApp, lateTransport: any Transport) {
                (self.app, self.lateTransport) = (app, lateTransport)
            }

            func find(_ params: Params) async throws -> JSONValue {
                let answer = try await app.service("notes").find(params: params)
                try await app.authenticate(.local(email: "bob", password: ""))
                let late = ServiceRequest(path: "notes", method: .find, params: params)
                return [.array(answer.data), try await lateTransport.send(late).result]
            }
        }
        // A sign-in does not wait for the connection that takes the place of alice's.
        let rest = StubTransport { _ in ["accessToken": "bob", "user": ["id": "bob"]] }
        let socket = transport
        let app = FeathersApp(transport: .mixed(realTime: socket, rest: rest))
        try app.use(authentication: AuthenticationOptions())
        try await app.use(Forwarding(app: app, lateTransport: socket), at: "local")
        try await withFeathersApp(app) { app in
            try await app.connect()
            try await app.authenticate(.local(email: "alice", password: ""))
            let error = await failure { try await app.service("local").find() }
            #expect(isRefusal(error), "\(String(describing: error))")
        }
        #expect(socket.requests.filter { $0.path == "notes" }.count == 1)
        #expect(rest.requests.map(\.path) == ["authentication"])
    }
}
