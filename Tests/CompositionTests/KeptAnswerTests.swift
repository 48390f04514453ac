import Feathers
import FeathersTesting
import Foundation
import Testing

/// Kept and shared answers belong to the user they were meant for.
@Suite struct KeptAnswerTests {
    @Test(arguments: Way.allCases, [[Part.cache, .authentication], [.authentication, .cache]])
    func `A kept answer is shown to its own user only`(way: Way, parts: [Part]) async throws {
        let server = ModelServer()
        let model = try server.app(over: way, parts, cache: ServiceCache(policy: .cacheFirstNetworkIfNotFoundOrExpired))
        try await model.connected { app in
            try await app.signIn("alice")
            try await app.notes.create(["text": "hers"])
            #expect(try await app.notes.find().toldUsers == ["alice"])

            try await app.logOut()
            #expect(await failure { try await app.notes.find() }?.code == .notAuthenticated)
            #expect(await failure { try await app.notes.find(params: .caching(.cacheOnly)) }?.code == .notInCache)
            try await app.signIn("bob")
            #expect(await failure { try await app.notes.find(params: .caching(.cacheOnly)) }?.code == .notInCache)
            #expect(try await app.notes.find().data == [])

            try await app.signIn("alice")
            // Each user has another connection or stream. Events may have been missed in between, so the cache may be
            // empty.
            let again =
                way == .rest ? try await app.notes.find(params: .caching(.cacheOnly)) : try await app.notes.find()
            #expect(again.toldUsers == ["alice"])
        }
    }

    @Test(arguments: Way.allCases)
    func `A disk cache shows a second app nothing that another user was told`(way: Way) async throws {
        let server = ModelServer()
        let folder = try TemporaryFolder()
        let parts: [Part] = [.cache, .authentication]
        func cache() -> ServiceCache { ServiceCache(DiskCacheStorage(directory: folder.url.appending(path: "cache"))) }
        let first = try server.app(over: way, parts, cache: cache())
        try await first.withoutStream { app in
            try await app.signIn("alice")
            try await app.notes.create(["text": "hers"])
            _ = try await app.notes.find()
        }
        let token = server.issueToken(to: "bob")
        // Of the ways, FeathersJS 6 has an origin.
        let storage = InMemoryTokenStorage(["feathers-jwt": token, "feathers-jwt http://model.test": token])
        let second = try server.app(over: way, parts, storage: storage, cache: cache())
        server.setAway(true, second)
        try await withFeathersApp(second.app) { app in
            #expect(await failure { try await app.notes.find(params: .caching(.cacheOnly)) }?.code == .notInCache)
            #expect(app.identity?.name == "bob")
        }
    }

    @Test(arguments: Way.allCases, [[Part.cache, .authentication], [.authentication, .cache]])
    func `What the stored user was told is readable without a server`(way: Way, parts: [Part]) async throws {
        let server = ModelServer()
        let (folder, storage) = (try TemporaryFolder(), InMemoryTokenStorage())
        func cache() -> ServiceCache { ServiceCache(DiskCacheStorage(directory: folder.url.appending(path: "cache"))) }
        let first = try server.app(over: way, parts, storage: storage, cache: cache())
        try await first.withoutStream { app in
            try await app.signIn("alice")
            try await app.notes.create(["text": "hers"])
            _ = try await app.notes.find()
        }
        let second = try server.app(over: way, parts, storage: storage, cache: cache())
        server.setAway(true, second)
        try await withFeathersApp(second.app) { app in
            let kept = try await app.notes.find(params: .caching(.cacheOnly))
            #expect(kept.toldUsers == ["alice"])
            #expect(app.identity?.name == "alice")
            guard way == .rest else { return }
            let keptAfterFailure = try await app.notes.find(params: .caching(.networkFirstCacheIfFailed))
            #expect(keptAfterFailure.toldUsers == ["alice"])
        }
    }

    @Test(arguments: Way.allCases)
    func `A shared read is not joined by the next user`(way: Way) async throws {
        let server = ModelServer()
        let model = try server.app(over: way, [.traffic, .authentication], traffic: [.coalescingReads()])
        try await model.connected { app in
            try await app.signIn("alice")
            try await app.notes.create(["text": "hers"])
            server.hold("notes", .find)
            async let hers = failure { try await app.notes.find() }
            try await server.waitForArrivals(at: "notes", .find)
            try await app.logOut()
            try await app.signIn("bob")
            async let his = app.notes.find()
            try await server.waitForArrivals(at: "notes", .find, 2)
            server.release("notes", .find)
            // Over a connection, the call ends with it.
            #expect(await hers?.code == (way.callsNeedConnection ? .unavailable : .notAuthenticated))
            #expect(try await his.data == [])
            #expect(server.arrivals(at: "notes", .find).map(\.user) == ["alice", "bob"])
        }
    }
}
