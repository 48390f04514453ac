import Feathers
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
