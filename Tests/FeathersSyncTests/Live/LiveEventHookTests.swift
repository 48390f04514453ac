import Feathers
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

/// Hooks change what `find` returns, and event hooks do the same to events: then a live query equals `find` without
/// another fetch.
@Suite("A live query of a service with event hooks", .timeLimit(.minutes(2)))
struct LiveEventHookTests {
    private struct Undecryptable: Error, CustomStringConvertible {
        let text: String
        var description: String { "cannot decrypt '\(text)'" }
    }

    @Sendable
    private static func decrypted(_ record: JSONValue) throws -> JSONValue {
        guard case .object(var object) = record, let text = object["text"]?.string else { return record }
        guard text.hasPrefix("enc:") else { throw Undecryptable(text: text) }
        object["text"] = .string(String(text.dropFirst(4)))
        return .object(object)
    }

    private static let decrypting = Hooks(
        after: [
            { context in
                if let records = context.result?["data"]?.array {
                    context.result?["data"] = .array(try records.map(decrypted))
                } else if let records = context.result?.array {
                    context.result = .array(try records.map(decrypted))
                } else if let record = context.result {
                    context.result = try decrypted(record)
                }
            }
        ],
        events: [
            { event in
                var event = event
                event.data = try decrypted(event.data)
                return event
            }
        ])

    /// Shows only tenant 1.
    private static let filtering = Hooks(
        before: [.find: [{ $0.params.query = $0.params.query.where("tenant", 1) }]],
        events: [
            { event in
                guard event.data["tenant"] != 1 else { return event }
                var event = event
                if event.name == .created { return nil }
                event.name = .removed
                return event
            }
        ])

    /// An app whose server has the service "notes", and the finds that reach the server.
    private struct Scene {
        let server = MemoryService(startID: 1, multi: .all)
        let transport: StubRealTimeTransport
        let app: FeathersApp
        let finds = Locked(0)
        let own = Locked(0)
        let messages = Locked<[String]>([])

        init() async throws {
            transport = StubRealTimeTransport(services: ["notes": server])
            app = FeathersApp(transport: transport)
            app.use(diagnostics: .text { [messages] line in messages.withLock { $0.append(line) } })
            app.use(hooks: Hooks(before: [.find: [{ [finds] _ in finds.withLock { $0 += 1 } }]]))
            try await app.connect()
        }

        var notes: Service<JSONValue> { app.service("notes") }

        /// Reads the live query until it shows what `find` returns.
        /// - Returns: How often it has fetched so far.
        func fetches(
            _ live: inout LiveQuery<JSONValue>.AsyncIterator,
            while isAllowed: @escaping (JSONValue) -> Bool = { _ in true }
        ) async throws -> Int {
            let expected = try await notes.find(.sorted(by: "id")).data
            own.withLock { $0 += 1 }
            while let shown = try await live.next() {
                #expect(shown.allSatisfy(isAllowed))
                if shown == expected { break }
            }
            return finds.withLock { $0 } - own.withLock { $0 }
        }
    }

    @Test("applies decrypted events without a fetch")
    func decrypt() async throws {
        let scene = try await Scene()
        await scene.notes.use(hooks: Self.decrypting)
        try await scene.notes.create(["text": "enc:one"])
        var live = scene.notes.live(.sorted(by: "id")).makeAsyncIterator()
        #expect(try await live.next()?.map { $0["text"] } == ["one"])
        try await scene.notes.create(["text": "enc:two"])
        try await scene.notes.patch(1, with: ["text": "enc:three"])
        let isDecrypted: (JSONValue) -> Bool = { $0["text"]?.string?.hasPrefix("enc:") == false }
        #expect(try await scene.fetches(&live, while: isDecrypted) == 1)
        try await scene.notes.remove(2)
        #expect(try await scene.fetches(&live, while: isDecrypted) == 1)
        await scene.app.disconnect()
    }

    @Test("applies filtered events without a fetch, and never shows what is hidden", arguments: [true, false])
    func filter(isOfApp: Bool) async throws {
        let scene = try await Scene()
        if isOfApp { scene.app.use(hooks: Self.filtering) } else { await scene.notes.use(hooks: Self.filtering) }
        var live = scene.notes.live(.sorted(by: "id")).makeAsyncIterator()
        #expect(try await live.next()?.isEmpty == true)
        let isMine: (JSONValue) -> Bool = { $0["tenant"] == 1 }
        try await scene.notes.create(["tenant": 2, "text": "theirs"])
        try await scene.notes.create(["tenant": 1, "text": "mine"])
        #expect(try await scene.fetches(&live, while: isMine) == 1)
        try await scene.notes.patch(1, with: ["text": "theirs again"])
        try await scene.notes.patch(2, with: ["text": "changed"])
        #expect(try await scene.fetches(&live, while: isMine) == 1)
        try await scene.notes.patch(2, with: ["tenant": 2])
        #expect(try await scene.fetches(&live, while: isMine) == 1)
        await scene.app.disconnect()
    }

    @Test("runs the service's hooks before the app's, for every reader of events")
    func order() async throws {
        let scene = try await Scene()
        func adding(_ text: String) -> Hooks {
            Hooks(events: [
                { event in
                    ServiceEvent(
                        path: "elsewhere", name: event.name, data: .string((event.data.string ?? "") + text))
                }
            ])
        }
        scene.app.use(hooks: adding(" app"))
        await scene.notes.use(hooks: adding(" first"))
        await scene.notes.use(hooks: adding(" second"))
        var events = scene.notes.events(["seen"]).makeAsyncIterator()
        var deliveries = scene.notes.eventDeliveries(["seen"]).makeAsyncIterator()
        var others = scene.app.service("others").events("seen").makeAsyncIterator()
        scene.transport.emit("seen", of: "notes", "by")
        scene.transport.emit("seen", of: "others", "by")
        #expect(await events.next() == ServiceEvent(path: "notes", name: "seen", data: "by first second app"))
        guard case .event(let event)? = await deliveries.next() else { throw Undecryptable(text: "no event") }
        #expect(event.data == "by first second app")
        #expect(await others.next() == "by app")
        await scene.app.disconnect()
    }

    @Test("fetches after an event whose hook has thrown, which is reported without its values")
    func failure() async throws {
        let scene = try await Scene()
        await scene.notes.use(hooks: Self.decrypting)
        var live = scene.notes.live(.sorted(by: "id")).makeAsyncIterator()
        #expect(try await live.next()?.isEmpty == true)
        var deliveries = scene.notes.eventDeliveries().makeAsyncIterator()
        _ = try await scene.server.create(["text": "enc:secret"], Params())
        scene.transport.emit(.created, of: "notes", ["id": 1, "text": "secret"])
        #expect(try await scene.fetches(&live) == 2)
        guard case .gap(let gap)? = await deliveries.next(), case .undecodable(let event, _) = gap.reason else {
            throw Undecryptable(text: "no gap")
        }
        #expect(event == ServiceEvent(path: "notes", name: .created, data: .null))
        let warnings = scene.messages.withLock { $0 }.filter { $0.contains("event hook") }
        #expect(warnings.count == 1)
        #expect(warnings.allSatisfy { $0.contains("'created' of service 'notes'") && !$0.contains("secret") })
        await scene.app.disconnect()
    }

    @Test("delivers no event to a user who signs in while its hooks run")
    func changedUser() async throws {
        let scene = try await Scene()
        scene.app.setIdentity(Identity("ada"))
        let app = scene.app
        await scene.notes.use(
            hooks: Hooks(events: [
                { event in
                    if event.data == "ada's" { app.setIdentity(Identity("bob")) }
                    return event
                }
            ]))
        var deliveries = scene.notes.eventDeliveries(nil).makeAsyncIterator()
        scene.transport.emit("seen", of: "notes", "ada's")
        scene.transport.emit("seen", of: "notes", "bob's")
        guard case .gap(let gap)? = await deliveries.next(), case .identityChanged = gap.reason,
            case .event(let event)? = await deliveries.next()
        else { throw Undecryptable(text: "no gap") }
        #expect(event.data == "bob's")
        await scene.app.disconnect()
    }

    @Test("leaves cached reads alone if an event is hidden, and not if it is shown or its hook has thrown")
    func cache() async throws {
        let scene = try await Scene()
        scene.app.use(cache: ServiceCache(policy: .cacheFirstNetworkIfNotFoundOrExpired))
        await scene.notes.use(hooks: Self.filtering)
        await scene.notes.use(
            hooks: Hooks(events: [
                { event in
                    if event.data["text"] == "bad" { throw Undecryptable(text: "bad") }
                    return event
                }
            ]))
        _ = try await scene.server.create(["tenant": 1, "text": "a"], Params())
        func read() async throws -> JSONValue? { try await scene.notes.get(1)["text"] }
        #expect(try await read() == "a")
        for (text, data, shown) in [
            ("b", ["tenant": 2, "text": "x"] as JSONValue, "a"), ("c", ["tenant": 1, "text": "c"], "c"),
            ("d", ["tenant": 1, "text": "bad"], "d"),
        ] {
            _ = try await scene.server.patch(1, with: ["text": .string(text)], Params())
            scene.transport.emit(.created, of: "notes", data)
            #expect(try await read() == .string(shown))
        }
        await scene.app.disconnect()
    }

    @Test("passes the events of the app's own calls by, which the hooks of those calls have shaped")
    func ownCalls() async throws {
        let server = MemoryService(startID: 1)
        let app = FeathersApp(transport: StubTransport(services: ["notes": server]))
        let notes = app.service("notes")
        await notes.use(hooks: Self.decrypting)
        await notes.use(hooks: Self.filtering)
        #expect(!notes.hasEventHooks)
        var events = notes.events(.created).makeAsyncIterator()
        try await notes.create(["text": "enc:enc:one", "tenant": 2])
        #expect(await events.next()?["text"] == "enc:one")
    }
}
