import Feathers
import FeathersTesting
import Testing

@Suite("Random histories of callers, users and connections", .timeLimit(.minutes(10)))
struct RandomHistoryTests {
    @Test(
        "end: nothing hangs, and the server knows the next connection as the app says",
        arguments: 1...12 as ClosedRange<UInt64>)
    func history(seed: UInt64) async throws {
        let transport = StubRealTimeTransport()
        transport.stub("messages", with: .value([]))
        transport.stub(
            "authentication",
            with: ServiceStub { request in
                let name = request.data?["accessToken"] ?? request.data?["email"] ?? "nobody"
                return ["accessToken": name, "user": ["id": name]]
            })
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: InMemoryTokenStorage(["feathers-jwt": "stored"])))
        try await app.connect()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: seed * 100 + UInt64(worker))
                    for _ in 0..<25 {
                        let user = ["alice", "bob", "carol"][Int.random(in: 0..<3, using: &random)]
                        let choice = Int.random(in: 0..<10, using: &random)
                        let isCancelled = Int.random(in: 0..<4, using: &random) == 0
                        // Only one of them cuts, so that what is cut comes back.
                        if worker == 0, choice < 5 {
                            transport.drop()
                            transport.restore()
                            continue
                        }
                        let step = Task {
                            switch choice {
                            case 0, 1: _ = try await app.authenticate(.local(email: user, password: "p"))
                            case 2: try await app.logOut()
                            case 3: _ = try await app.reauthenticate(force: true)
                            case 4...7: _ = try await app.service("messages").find()
                            default: _ = try await app.service("messages").create(["a": 1])
                            }
                        }
                        if isCancelled { step.cancel() }
                        _ = await step.result
                    }
                }
            }
        }
        transport.drop()
        try await transport.waitForStatus { if case .waiting = $0 { true } else { false } }
        let before = transport.requests.count
        transport.restore()
        try await transport.waitForStatus { if case .connected = $0 { true } else { false } }
        let asked = transport.requests[before...].map { $0.data?["accessToken"]?.string }
        #expect(asked == (app.authentication.result.map { [$0.accessToken] } ?? []))
        await app.disconnect()
    }
}
