import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

/// Several apps, as in several processes, share one storage while the server replaces refresh tokens.
@Suite(.timeLimit(.minutes(10))) struct SharedStorageTests {
    /// A server that accepts each refresh token once, and each access token for one call.
    private final class Rotation: Sendable {
        struct State {
            var current = 0
            var isUsed = false
            var refreshes = 0
            var reuses = 0
        }

        let state = Locked(State())

        func answer(_ request: ServiceRequest) throws -> JSONValue {
            try state.withLock { state in
                switch request.path {
                case "authentication" where request.method == .remove: return ["accessToken": "gone"]
                case "authentication" where request.data?["strategy"] == "jwt":
                    guard request.data?["accessToken"] == .string("a\(state.current)") else { throw Self.refusal }
                    return ["accessToken": .string("a\(state.current)"), "user": ["id": 1]]
                case "authentication", "refresh-tokens":
                    if request.path == "refresh-tokens" {
                        guard request.data?["refreshToken"] == .string("r\(state.current)") else {
                            state.reuses += 1
                            throw Self.refusal
                        }
                        state.refreshes += 1
                    }
                    (state.current, state.isUsed) = (state.current + 1, false)
                    return [
                        "accessToken": .string("a\(state.current)"), "refreshToken": .string("r\(state.current)"),
                        "user": ["id": 1],
                    ]
                default:
                    guard request.params.headers["Authorization"] == "Bearer a\(state.current)", !state.isUsed else {
                        throw Self.refusal
                    }
                    state.isUsed = true
                    return "ok"
                }
            }
        }

        static var refusal: FeathersError { FeathersError(.notAuthenticated, "jwt expired") }
    }

    private func app(_ storage: any TokenStorage, _ respond: @escaping StubTransport.Responder) throws -> FeathersApp {
        let app = FeathersApp(transport: StubTransport(respond))
        try app.use(authentication: AuthenticationOptions(storage: storage, refresh: .service("refresh-tokens")))
        return app
    }

    @Test(arguments: [true, false]) func `Four apps share one sign-in, and use no refresh token twice`(isFile: Bool)
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = Rotation()
        let memory = InMemoryTokenStorage()
        /// Each has a storage of its own, as in another process.
        let apps = try (0..<4).map { _ in
            try app(isFile ? FileTokenStorage(directory: folder) : memory) { try server.answer($0) }
        }
        try await apps[0].authenticate(.local(email: "a", password: "p"))
        for app in apps.dropFirst() { try await app.reauthenticate() }
        await withTaskGroup(of: Void.self) { group in
            for app in apps {
                group.addTask {
                    // A call may be refused twice, because another app has used the token meanwhile.
                    for _ in 1...50 { _ = try? await app.service("messages").rawFind() }
                }
            }
        }
        let (current, refreshes, reuses) = server.state.withLock { ($0.current, $0.refreshes, $0.reuses) }
        #expect(reuses == 0)
        #expect(refreshes >= 50)
        for app in apps { #expect(app.authentication.result != nil) }
        let next = try app(isFile ? FileTokenStorage(directory: folder) : memory) { try server.answer($0) }
        #expect(try await next.reauthenticate().accessToken == "a\(current)")
    }

    /// A storage that cannot be locked.
    private struct Unlocked: TokenStorage {
        let tokens = InMemoryTokenStorage()

        func token(for key: String) async throws -> String? { try await tokens.token(for: key) }
        func store(_ token: String, for key: String) async throws { try await tokens.store(token, for: key) }
        func remove(for key: String) async throws { try await tokens.remove(for: key) }
    }

    @Test func `A refused refresh goes on with what another app has stored meanwhile`() async throws {
        let (storage, server, gate, arrived) = (Unlocked(), Rotation(), ClosedGate(), Promise<Void>())
        let winner = try app(storage) { try server.answer($0) }
        try await winner.authenticate(.local(email: "a", password: "p"))
        let loser = try app(storage) { request in
            if request.path == "refresh-tokens" {
                arrived.resolve(())
                try await gate.pass()
            }
            return try server.answer(request)
        }
        try await loser.reauthenticate()
        _ = try await winner.service("messages").rawFind()
        async let call = loser.service("messages").rawFind()
        try await arrived.value()
        // The server replaces the token that is on its way to it.
        _ = try await winner.service("messages").rawFind()
        server.state.withLock { $0.isUsed = false }
        gate.open()
        #expect(try await call == "ok")
        #expect(server.state.withLock { $0.reuses } == 1)
        #expect(loser.authentication.result?.accessToken == "a2" && winner.authentication.result?.accessToken == "a2")
        #expect(try await storage.token(for: "feathers-jwt") == "a2")
        #expect(try await storage.token(for: "feathers-jwt-refresh") == "r2")
    }

    @Test func `A refused refresh with another app's tokens goes on with newer ones, too`() async throws {
        let (storage, server, gate, arrived) = (Unlocked(), Rotation(), ClosedGate(), Promise<Void>())
        let winner = try app(storage) { try server.answer($0) }
        try await winner.authenticate(.local(email: "a", password: "p"))
        let loser = try app(storage) { request in
            // The winner's token expires before the loser signs in with it.
            if request.data?["accessToken"] == "a2" { throw Rotation.refusal }
            if request.path == "refresh-tokens" {
                arrived.resolve(())
                try await gate.pass()
            }
            return try server.answer(request)
        }
        try await loser.reauthenticate()
        for _ in 0..<2 { _ = try await winner.service("messages").rawFind() }
        async let call = loser.service("messages").rawFind()
        try await arrived.value()
        _ = try await winner.service("messages").rawFind()
        server.state.withLock { $0.isUsed = false }
        gate.open()
        #expect(try await call == "ok")
        #expect(loser.authentication.result?.accessToken == "a3")
        #expect(try await storage.token(for: "feathers-jwt-refresh") == "r3")
    }

    @Test func `A stored sign-in that is being refreshed goes on without callers`() async throws {
        let (storage, server, gate, arrived) = (InMemoryTokenStorage(), Rotation(), ClosedGate(), Promise<Void>())
        let first = try app(storage) { try server.answer($0) }
        try await first.authenticate(.local(email: "a", password: "p"))
        let next = try app(storage) { request in
            if request.data?["accessToken"] == "a1" { throw Rotation.refusal }
            let answer = try server.answer(request)
            if request.path == "refresh-tokens" {
                arrived.resolve(())
                try await gate.pass()
            }
            return answer
        }
        let only = Task { try await next.service("messages").rawFind() }
        try await arrived.value()
        only.cancel()
        await #expect(throws: CancellationError.self) { try await only.value }
        gate.open()
        #expect(try await next.service("messages").rawFind() == "ok")
        let (refreshes, reuses) = server.state.withLock { ($0.refreshes, $0.reuses) }
        #expect(refreshes == 1 && reuses == 0)
        #expect(try await storage.token(for: "feathers-jwt-refresh") == "r2")
    }

    @Test func `A log-out of one app is not undone by another's refresh`() async throws {
        let (storage, server, gate, arrived) = (Unlocked(), Rotation(), ClosedGate(), Promise<Void>())
        let leaving = try app(storage) { try server.answer($0) }
        try await leaving.authenticate(.local(email: "a", password: "p"))
        let other = try app(storage) { request in
            guard request.path == "refresh-tokens" else { return try server.answer(request) }
            let answer = try server.answer(request)
            arrived.resolve(())
            try await gate.pass()
            return answer
        }
        try await other.reauthenticate()
        server.state.withLock { $0.isUsed = true }
        async let call = other.service("messages").rawFind()
        try await arrived.value()
        try? await leaving.logOut()
        gate.open()
        _ = try await call
        #expect(try await storage.token(for: "feathers-jwt") == nil)
        #expect(try await storage.token(for: "feathers-jwt-refresh") == nil)
    }

    @Test(arguments: [true, false]) func `A token is replaced only if it is the expected one`(isFile: Bool) async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let storages: [any TokenStorage] = [
            isFile ? FileTokenStorage(directory: folder) : InMemoryTokenStorage(), Unlocked(),
        ]
        for storage in storages {
            #expect(try await !storage.replace("a", with: "b", for: "key"))
            #expect(try await storage.replace(nil, with: "a", for: "key"))
            #expect(try await !storage.replace(nil, with: "c", for: "key"))
            #expect(try await storage.replace("a", with: "b", for: "key"))
            #expect(try await storage.token(for: "key") == "b")
            #expect(try await !storage.replace("a", with: nil, for: "key"))
            #expect(try await storage.replace("b", with: nil, for: "key"))
            #expect(try await storage.token(for: "key") == nil)
        }
    }
}
