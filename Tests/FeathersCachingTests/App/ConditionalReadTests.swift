import FeathersCore
import FeathersREST
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersCaching

@Suite(
    "Answers the server need not send again", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct ConditionalReadTests {
    private static let tagged = ScriptedResponse(headers: [["ETag", #"W/"1""#]], body: #"{"text":"Hi"}"#)
    private static let notModified = ScriptedResponse(status: 304, headers: [["ETag", #"W/"1""#]])

    private let time = Locked(Date(timeIntervalSinceReferenceDate: 0))

    private func app(_ script: ServerScript, _ storage: any CacheStorage = MemoryCacheStorage()) -> FeathersApp {
        let time = time
        let app = FeathersApp(transport: .rest(script.url))
        let cache = ServiceCache(
            storage, policy: .cacheFirstNetworkIfNotFoundOrExpired, expiration: .after(.seconds(10))
        ) { options in
            options.now = { time.withLock { $0 } }
        }
        cache["users"] = ServiceCacheOptions(policy: .networkOnlyNoCache)
        app.use(cache: cache)
        return app
    }

    private func pass() { time.withLock { $0 += 11 } }

    @Test(
        "An expired answer is asked for by its tag, is fresh again after a 304, and hooks see an ordinary call",
        arguments: TestedStorage.allCases)
    func notModified(_ tested: TestedStorage) async throws {
        let directory = TemporaryDirectory()
        let script = try await ServerScript(
            Self.tagged, Self.notModified, ScriptedResponse(body: #"{"text":"changed"}"#))
        let app = app(script, tested.make(in: directory))
        let messages = app.service("messages")
        let seen = Locked<[JSONValue?]>([])
        // Makes something else of the answer, once each time.
        await messages.use(
            hooks: Hooks(after: [
                { context in
                    seen.withLock { $0.append(context.result) }
                    context.result = ["wrapped": context.result ?? .null]
                }
            ]))
        for _ in 0..<2 { #expect(try await messages.get(1) == ["wrapped": ["text": "Hi"]]) }
        pass()
        for _ in 0..<2 { #expect(try await messages.get(1) == ["wrapped": ["text": "Hi"]]) }
        pass()
        #expect(try await messages.get(1) == ["wrapped": ["text": "changed"]])
        pass()
        #expect(try await messages.get(1) == ["wrapped": ["text": "changed"]])

        let requests = try await script.requests()
        // The last answer had no tag.
        #expect(requests.map { $0.header("If-None-Match") } == [nil, #"W/"1""#, #"W/"1""#, nil])
        #expect(
            seen.withLock { $0 } == Array(repeating: ["text": "Hi"], count: 4)
                + Array(repeating: ["text": "changed"], count: 2))
    }

    @Test("A 304 is no update of the value that was given before")
    func notUpdated() async throws {
        let app = app(try await ServerScript(Self.tagged, Self.notModified))
        _ = try await app.service("messages").get(1)
        var sources: [CacheSource] = []
        var values: [JSONValue] = []
        for try await result in app.service("messages").cached.get(1, policy: .cacheFirstNetworkAlways) {
            sources.append(result.source); values.append(result.value)
        }
        #expect(sources == [.cache(isExpired: false), .network(updated: false)])
        #expect(values == [["text": "Hi"], ["text": "Hi"]])
    }

    @Test("A caller who asks on conditions of its own gets the server's own answer to them")
    func ownConditions() async throws {
        let script = try await ServerScript(Self.tagged, Self.notModified)
        let messages = app(script).service("messages")
        _ = try await messages.get(1)
        pass()
        await #expect { try await messages.get(1, params: Params(headers: ["if-none-match": "mine"])) } throws: {
            ($0 as? FeathersError)?.code == 304
        }
        #expect(try await script.requests().last?.header("If-None-Match") == "mine")
    }

    @Test("Without a cache nothing is asked for by tag, and a 304 is no result")
    func withoutCache() async throws {
        let script = try await ServerScript(Self.tagged, Self.notModified)
        let messages = FeathersApp(transport: .rest(script.url)).service("messages")
        _ = try await messages.get(1)
        await #expect(throws: FeathersError.self) { try await messages.get(1) }
        #expect(try await script.requests().allSatisfy { $0.header("If-None-Match") == nil })
    }

    @Test("Calls that a hook makes with the same params are asked for as what they are")
    func handedOn() async throws {
        let script = try await ServerScript(
            Self.tagged, ScriptedResponse(body: #"{"name":"Ada"}"#), ScriptedResponse(body: #"{"name":"Ada"}"#),
            Self.notModified)
        let app = app(script)
        let messages = app.service("messages")
        _ = try await messages.get(1)
        let names = Locked<[JSONValue]>([])
        await messages.use(
            hooks: Hooks(before: [
                { context in
                    var params = context.params
                    params.cachePolicy = .networkOnlyNoCache
                    let user = try await context.app.service("users").get(1, params: params)
                    names.withLock { $0.append(user) }
                }
            ]))
        pass()
        await messages.use(
            hooks: Hooks(before: [
                { context in _ = try await context.app.service("users").get(2, params: context.params) }
            ]))
        #expect(try await messages.get(1) == ["text": "Hi"])
        #expect(names.withLock { $0 } == [["name": "Ada"]])
        let conditions = try await script.requests().map { $0.header("If-None-Match") }
        #expect(conditions == [nil, nil, nil, #"W/"1""#])
    }
}
