import Feathers
import FeathersSupport
import FeathersTesting
import TestBackend
import Testing

@Suite("Storages that fail or are slow", .timeLimit(.minutes(10)))
struct StorageFailureTests {
    /// Fails when told to, and lets writes wait.
    private final class DifficultStorage: TokenStorage {
        let tokens = InMemoryTokenStorage()
        let failsToStore: Bool
        let failsToRemove: Bool
        let writing = ClosedGate()

        init(failsToStore: Bool = false, failsToRemove: Bool = false, isSlow: Bool = false) {
            (self.failsToStore, self.failsToRemove) = (failsToStore, failsToRemove)
            if !isSlow { writing.open() }
        }

        func token(for key: String) async throws -> String? { try await tokens.token(for: key) }

        func store(_ token: String, for key: String) async throws {
            try await writing.pass()
            if failsToStore { throw FeathersError(.generalError, "disk full") }
            try await tokens.store(token, for: key)
        }

        func remove(for key: String) async throws {
            if failsToRemove { throw FeathersError(.generalError, "disk gone") }
            try await tokens.remove(for: key)
        }
    }

    @Test("A sign-in whose token can not be stored fails with the storage's reason")
    func store() async throws {
        let app = try FeathersApp.sample(SampleServer(), storage: DifficultStorage(failsToStore: true))
        #expect(await failure { try await app.authenticate(.jwt("t")) }?.message == "disk full")
        #expect(app.authentication == .signedOut)
    }

    @Test("A log-out whose token can not be removed says so; nobody is signed in all the same, and the server is told")
    func remove() async throws {
        let server = SampleServer(.init(answer: ["accessToken": "t", "refreshToken": "r"]))
        let app = try FeathersApp.sample(server, storage: DifficultStorage(failsToRemove: true))
        try await app.authenticate(.jwt("t"))
        #expect(await failure { try await app.logOut() }?.message == "disk gone")
        #expect(app.authentication == .signedOut)
        #expect(server.requests(to: "authentication").last?.method == .remove)
        #expect(try await app.service("messages").rawFind()["authorization"] == .null)
    }

    /// Cannot be locked, nor read once a token is stored.
    private struct Broken: TokenStorage {
        let tokens = InMemoryTokenStorage()

        func token(for key: String) async throws -> String? { throw FeathersError(.generalError, "disk gone") }
        func store(_ token: String, for key: String) async throws { try await tokens.store(token, for: key) }
        func remove(for key: String) async throws { try await tokens.remove(for: key) }
        func replace(_ expected: String?, with token: String?, for key: String) async throws -> Bool { true }

        func exclusively(for key: String, _ body: @Sendable () async -> Void) async throws {
            throw FeathersError(.generalError, "no locks")
        }
    }

    @Test func `A refresh goes on without the storage, with a warning for each failure`() async throws {
        let server = SampleServer(.init(rejected: ["issued"]))
        let app = FeathersApp(transport: server.transport)
        let warnings = Locked<[String]>([])
        let sink = ClosureDiagnosticSink { event in
            guard event.domain == .authentication, event.level == .warning else { return }
            warnings.withLock { $0.append(event.message) }
        }
        app.use(diagnostics: sink, levels: DiagnosticLevels(.warning))
        try app.use(
            authentication: AuthenticationOptions(storage: Broken(), refresh: .service("refresh-tokens")))
        try await app.authenticate(.local(email: "a", password: "p"))
        #expect(try await app.service("messages").rawFind()["authorization"] == "Bearer again")
        let user = "The signed-in user cannot be stored, so the user is unknown at an offline start"
        let expected = [
            user, "The token storage cannot be locked, so another app may use the same refresh token",
            "The token storage cannot be read, so a sign-in of another app is not found", user,
        ]
        #expect(warnings.withLock { $0 } == expected)
    }

    @Test("A token that is still being stored when the app logs out does not stay behind")
    func race() async throws {
        let storage = DifficultStorage(isSlow: true)
        let server = SampleServer(.init(answer: ["accessToken": "t", "refreshToken": "r"]))
        let app = try FeathersApp.sample(server, storage: storage)
        let updates = app.authenticationUpdates()
        let signIn = Task { await failure { try await app.authenticate(.jwt("t")) } }
        try await server.transport.waitForRequest(number: 1)
        let logOut = Task { try await app.logOut() }
        for await state in updates where state == .authenticating { break }
        storage.writing.open()
        try await logOut.value
        // Which of the two comes first is left to chance; what stays behind is not.
        _ = await signIn.value
        #expect(app.authentication == .signedOut)
        #expect(try await storage.tokens.token(for: "feathers-jwt") == nil)
        #expect(try await storage.tokens.token(for: "feathers-jwt-refresh") == nil)
    }
}
