import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Reading stored records", .timeLimit(.minutes(10)))
struct StoredReadTests {
    typealias Note = LocalScene.Note

    private static let one = Note(id: 1, text: "one")
    private static let two = Note(id: 2, text: "two")

    /// A server whose list of notes is stored, and which is out of reach now.
    private func scene(as user: String? = nil) async throws -> LocalScene {
        let scene = try LocalScene("one", "two")
        try await scene.visit(as: user)
        scene.isOnline.withLock { $0 = false }
        return scene
    }

    private func age(_ source: ResultSource) -> Double? {
        if case .stored(let date) = source { -date.timeIntervalSinceNow } else { nil }
    }

    @Test("finds them without a server after a restart, and says how old they are", arguments: StoredPolicy.allCases)
    func offline(_ policy: StoredPolicy) async throws {
        let scene = try await scene()
        let app = try await scene.app()
        let note = try await scene.notes(app).stored.get(1, policy: policy)
        #expect(note.value == Self.one && !note.hasPendingWrites)
        #expect(try #require(age(note.source)) < 60)
        let found = try await scene.notes(app).stored.find(ids: [2, 9, 1, 2], policy: policy)
        #expect(found.value == [Self.two, Self.one] && found.missing == [9])
        #expect(try #require(age(found.source)) < 60)
        let none = try await scene.notes(app).stored.find(ids: [8, 9], policy: policy)
        #expect(none.value.isEmpty && none.missing == [8, 9] && none.source == .stored(since: .distantPast))
        await app.outbox?.close()
    }

    @Test("asks the server first, with 'get' and 'find', or not at all")
    func online() async throws {
        let scene = try await scene()
        scene.isOnline.withLock { $0 = true }
        _ = try await scene.server.patch(1, with: ["text": "new"], Params())
        _ = try await scene.server.remove(2, Params())
        let app = try await scene.app()
        let methods = Locked<[ServiceMethod]>([])
        await app.service("notes").use(
            hooks: Hooks(before: [{ context in methods.withLock { $0.append(context.method) } }]))
        let notes = scene.notes(app).stored
        #expect(try await notes.get(1, policy: .storedOnly).value == Self.one)
        #expect(try await notes.find(ids: [2], policy: .storedOnly).value == [Self.two])
        #expect(methods.withLock { $0.isEmpty })
        let note = try await notes.get(1)
        #expect(note.value.text == "new" && note.source == .server && note.missing.isEmpty)
        let found = try await notes.find(ids: [2, 1])
        #expect(found.value.map(\.text) == ["new"] && found.missing == [2] && found.source == .server)
        #expect(methods.withLock { $0 } == [.get, .find])
        let error = await #expect(throws: FeathersError.self) { try await notes.get(2) }
        #expect(error?.code == .notFound && error?.execution == .answered)
        await app.outbox?.close()
    }

    @Test("says what is not on this device, and what was removed")
    func missing() async throws {
        let scene = try await scene()
        let app = try await scene.app()
        let notes = scene.notes(app)
        var error = await #expect(throws: FeathersError.self) { try await notes.stored.get(9, policy: .storedOnly) }
        #expect(error?.code == .notStored && error?.message.contains("'9'") == true && error?.execution == .neverSent)
        error = await #expect(throws: FeathersError.self) { try await notes.stored.get(9) }
        #expect(error?.code == .unavailable)
        try await notes.outbox.remove(1)
        error = await #expect(throws: FeathersError.self) { try await notes.stored.get(1) }
        #expect(error?.code == .notFound && error?.execution == .neverSent)
        #expect(try await notes.stored.find(ids: [1, 2]).missing == [1])
        // Once it is executed, the database says so.
        scene.isOnline.withLock { $0 = true }
        try await withFeathersApp(app) { app in _ = try await app.outbox?.flush(within: .seconds(60)) }
        await app.outbox?.close()
        let later = try await scene.app()
        error = await #expect(throws: FeathersError.self) {
            try await scene.notes(later).stored.get(1, policy: .storedOnly)
        }
        #expect(error?.code == .notFound)
        await later.outbox?.close()
    }

    @Test("applies queued writes, also of records that are not created yet")
    func queued() async throws {
        let scene = try await scene()
        let app = try await scene.app()
        let notes = scene.notes(app)
        try await notes.outbox.patch(1, with: ["text": "mine"])
        let created = try await notes.outbox.create(Note(text: "in a tunnel"))
        let text = created.id.uuidString.lowercased()
        let number = try #require(ServiceID(.provisionalNumber(for: text)))
        for id in [ServiceID.string(text), number] {
            let note = try await notes.stored.get(id)
            #expect(note.value.text == "in a tunnel" && note.hasPendingWrites)
            #expect(note.source == .stored(since: .distantPast))
        }
        await app.outbox?.close()
        // The next process, then with a server that has not executed the patch.
        let later = try await scene.app()
        let stored = scene.notes(later).stored
        for isOnline in [false, true] {
            scene.isOnline.withLock { $0 = isOnline }
            let note = try await stored.get(1)
            #expect(note.value.text == "mine" && note.hasPendingWrites)
            #expect((note.source == .server) == isOnline)
            let all = try await stored.find(ids: [ServiceID.string(text), 1])
            #expect(all.value.map(\.text) == ["in a tunnel", "mine"] && all.missing.isEmpty)
        }
        try await withFeathersApp(later) { app in _ = try await app.outbox?.flush(within: .seconds(60)) }
        scene.isOnline.withLock { $0 = false }
        // By either id, and without any list of it.
        #expect(try await stored.get(text).value == Note(id: 3, text: "in a tunnel"))
        let note = try await stored.get(3)
        #expect(note.value.text == "in a tunnel" && note.source == .stored(since: .distantPast))
        #expect(!note.hasPendingWrites)
        await later.outbox?.close()
    }

    @Test("never shows a record of another user, and none after its removal at a log-out")
    func users() async throws {
        let scene = try await scene(as: "alice")
        func store(_ folder: URL) -> LocalStore {
            var store = LocalStore.directory(folder)
            store.removesResultsAtLogOut = true
            return store
        }
        let app = try await scene.app(store, as: "bob")
        let notes = scene.notes(app).stored
        func isThere() async throws -> Bool {
            try await !notes.find(ids: [1], policy: .storedOnly).value.isEmpty
        }
        #expect(try await !isThere())
        app.setIdentity(nil)
        #expect(try await !isThere())
        app.setIdentity(Identity("alice"))
        #expect(try await isThere())
        app.setIdentity(nil)
        await app.storedLists?.removed()
        app.setIdentity(Identity("alice"))
        #expect(try await !isThere())
        await app.outbox?.close()
    }

    @Test("ends with an error if the user changes meanwhile")
    func changedUser() async throws {
        let (asked, response) = (Promise<Void>(), Promise<JSONValue>())
        let app = FeathersApp(
            transport: StubTransport { _ in
                asked.resolve(())
                return try await response.value()
            })
        app.setIdentity(Identity("alice"))
        let folder = try OutboxFolder()
        var local = LocalStore.directory(folder.url.appending(path: "store", directoryHint: .isDirectory))
        local.responseDelay = .seconds(3600)
        try await app.use(localStore: local)
        let note = Task { try await app.service("notes").stored.get(1) }
        try await asked.value()
        app.setIdentity(Identity("bob"))
        response.resolve(["id": 1, "text": "of alice"])
        let error = await #expect(throws: FeathersError.self) { _ = try await note.value }
        #expect(error?.code == .notAuthenticated)
        await app.outbox?.close()
    }

    @Test("asks again if events were missed meanwhile", arguments: [false, true])
    func gap(isGet: Bool) async throws {
        let scene = try LocalScene()
        let (asked, response) = (Promise<Void>(), Promise<Void>())
        let count = Locked(0)
        let app = FeathersApp(
            transport: StubTransport { request in
                count.withLock { $0 += 1 }
                asked.resolve(())
                try await response.value()
                let record: JSONValue = ["id": 1, "text": .string("\(count.withLock { $0 })")]
                return request.method == .get ? record : [record]
            })
        var local = LocalStore.directory(scene.place)
        local.responseDelay = .seconds(3600)
        try await app.use(localStore: local)
        let notes = scene.notes(app).stored
        let texts = Task {
            isGet ? [try await notes.get(1).value.text] : try await notes.find(ids: [1]).value.map(\.text)
        }
        try await asked.value()
        app.pushedEventsMissed()
        response.resolve(())
        #expect(try await texts.value == ["2"])
        await app.outbox?.close()
    }

    @Test("takes a record that is shaped for one query for no record")
    func shaped() async throws {
        let scene = try LocalScene("one")
        let app = try await scene.app()
        var live = app.service("notes").live(.selecting("text")).snapshots.makeAsyncIterator()
        while try await live.next()?.source != .server {}
        await app.storedLists?.write(app.diagnostics)
        await app.outbox?.close()
        scene.isOnline.withLock { $0 = false }
        let later = try await scene.app()
        #expect(try await later.service("notes").stored.find(ids: [1]).missing == [1])
        await later.outbox?.close()
    }

    @Test("names a record that cannot be decoded")
    func undecodable() async throws {
        struct Other: Codable, Sendable { var id: Int, title: String }
        let scene = try await scene()
        let app = try await scene.app()
        let others = app.service("notes", of: Other.self).stored
        let error = await #expect(throws: FeathersError.self) { try await others.get(2) }
        #expect(error?.code == .generalError && error?.message.contains("id 2") == true, "\(error?.message ?? "")")
        await #expect(throws: FeathersError.self) { try await others.find(ids: [1, 2]) }
        var params = Params()
        params.skipsUndecodableRecords = true
        #expect(try await others.find(ids: [1, 2], params: params).missing == [1, 2])
        await app.outbox?.close()
    }

    @Test("takes a damaged record for one that is not there, with a warning")
    func damaged() async throws {
        let scene = try await scene()
        let app = try await scene.app()
        try await app.outbox?.journal.write { database in
            try database.execute("UPDATE records SET json = '{\"id\":7}' WHERE key = '1'")
        }
        #expect(try await scene.notes(app).stored.find(ids: [1, 2]).missing == [1])
        #expect(scene.warnings.withLock { $0.first?.contains("'1'") } == true)
        await app.outbox?.close()
    }

    @Test("applies the conditions and the selection of the params")
    func params() async throws {
        let scene = try await scene()
        let app = try await scene.app()
        let notes = app.service("notes").stored
        let query = Query<JSONValue>.where("text", "one").selecting("id")
        for isOnline in [false, true] {
            scene.isOnline.withLock { $0 = isOnline }
            let found = try await notes.find(ids: [1, 2], params: Params(query: query))
            #expect(found.value == [["id": 1]] && found.missing == [2])
        }
        await app.outbox?.close()
    }

    @Test(
        "takes the sign-in page of a network, and a gateway without a server, for no response",
        arguments: [JSONValue.object(["login": "now"]), "<html>", .null])
    func portal(_ page: JSONValue) async throws {
        let scene = try await scene()
        let app = try await scene.app()
        let service = app.service("notes", of: Note.self)
        await service.use(
            hooks: Hooks(around: [
                { context, _ in
                    if page.isNull { throw FeathersError(.badGateway, "No server") }
                    context.result = page
                }
            ]))
        scene.isOnline.withLock { $0 = true }
        #expect(try await service.stored.get(1).value == Self.one)
        let found = try await service.stored.find(ids: [1, 9])
        #expect(found.value == [Self.one] && found.missing == [9])
        await app.outbox?.close()
    }

    @Test("waits two seconds for a silent server, and longer if nothing is stored")
    func silence() async throws {
        let scene = try await scene()
        let (clock, response) = (ManualClock(), Promise<JSONValue>())
        let app = FeathersApp(transport: StubTransport { _ in try await response.value() })
        var local = LocalStore.directory(scene.place)
        local.clock = clock
        try await app.use(localStore: local)
        let notes = scene.notes(app).stored
        async let note = notes.get(1)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(try await note.value == Self.one)
        async let slow = notes.get(9)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        response.resolve(["id": 9, "text": "late"])
        #expect(try await slow.value.text == "late")
        await app.outbox?.close()
    }

    @Test("does not wait for a connection that has failed, whatever is stored")
    func disconnected() async throws {
        let scene = try await scene()
        let transport = StubRealTimeTransport()
        let app = FeathersApp(transport: transport)
        var local = LocalStore.directory(scene.place)
        local.responseDelay = .seconds(3600)
        try await app.use(localStore: local)
        transport.drop()
        try await withFeathersApp(app) { app in
            let notes = scene.notes(app).stored
            // The connection fails before or while it reads.
            let note = try await notes.get(1)
            #expect(note.value == Self.one)
            let error = await #expect(throws: FeathersError.self) { try await notes.get(9) }
            #expect(error?.code == .notStored)
        }
        await app.outbox?.close()
    }

    @Test("works in a process that only reads, with the writes of the other one")
    func reader() async throws {
        let scene = try await scene()
        let app = try await scene.app()
        try await scene.notes(app).outbox.patch(1, with: ["text": "mine"])
        let reader = try await scene.app(LocalStore.readOnly)
        let note = try await scene.notes(reader).stored.get(1)
        #expect(note.value.text == "mine" && note.hasPendingWrites)
        #expect(try await scene.notes(reader).stored.find(ids: [2, 9]).missing == [9])
        await app.outbox?.close()
    }

    @Test("keeps the values for placeholders, header fields and other id properties apart")
    func places() async throws {
        let scene = try LocalScene("one")
        let records = Locked<[JSONValue]>([["id": 1, "_id": "a", "text": "red"]])
        let app = FeathersApp(
            transport: StubTransport { _ in
                guard scene.isOnline.withLock({ $0 }) else { throw FeathersError(.unavailable, "Away") }
                return .array(records.withLock { $0 })
            })
        try await app.use(localStore: .directory(scene.place))
        let members = app.service("teams/:team/members")
        let red = Params(route: ["team": "red"])
        let mongo = app.service("documents")
        for query in [members.live(params: red), mongo.live(id: "_id")] {
            var live = query.snapshots.makeAsyncIterator()
            while try await live.next()?.source != .server {}
        }
        await app.storedLists?.write(app.diagnostics)
        scene.isOnline.withLock { $0 = false }
        #expect(try await members.stored.get(1, params: red).value["text"] == "red")
        #expect(try await members.stored.find(ids: [1], params: Params(route: ["team": "blue"])).missing == [1])
        var other = red
        other.headers = ["X-Tenant": "2"]
        #expect(try await members.stored.find(ids: [1], params: other).missing == [1])
        #expect(try await mongo.stored(by: "_id").get("a").value["text"] == "red")
        #expect(try await mongo.stored.find(ids: ["a"]).missing == ["a"])
        await app.outbox?.close()
    }

    @Test("needs a local store, and the app's own user")
    func refused() async throws {
        let app = FeathersApp(transport: StubTransport { _ in ["id": 1] })
        let notes = app.service("notes").stored
        var error = await #expect(throws: FeathersError.self) { try await notes.get(1) }
        #expect(error?.code == .badRequest && error?.message.contains("use(localStore:)") == true)
        let scene = try await scene()
        let local = try await scene.app()
        var params = Params()
        params.token = "alice"
        let (own, foreign) = (local.service("notes").stored, params)
        error = await #expect(throws: FeathersError.self) { try await own.get(1, params: foreign) }
        #expect(error?.code == .badRequest && error?.execution == .neverSent)
        await local.outbox?.close()
    }
}
