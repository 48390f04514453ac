import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A local store", .timeLimit(.minutes(10)))
struct LocalStoreTests {
    typealias Note = LocalScene.Note

    @Test("opens a live query with the last list, then shows the server's")
    func opens() async throws {
        let scene = try LocalScene("one", "two")
        try await scene.visit()
        _ = try await scene.server.create(["text": "three"], Params())
        let app = try await scene.app()
        var live = scene.notes(app).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        let first = try #require(await live.next())
        #expect(first.records.map(\.text) == ["one", "two"])
        guard case .stored(let date) = first.source else {
            Issue.record("The first snapshot comes from \(first.source)")
            return
        }
        #expect(abs(date.timeIntervalSinceNow) < 60)
        let second = try #require(await live.next())
        #expect(second.records.map(\.text) == ["one", "two", "three"] && second.source == .server)
        #expect(second.changes.insertions == [2] && second.changes.updates.isEmpty)
        await app.outbox?.close()
    }

    @Test("shows of a stored record only what the query selects")
    func selection() async throws {
        struct Title: Codable, Sendable { let id: Int, text: String? }
        let scene = try LocalScene("one", "two")
        for source in [ResultSource.server, .stored(since: .distantPast)] {
            let app = try await scene.app()
            try await withFeathersApp(app) { app in
                let query = Query<Title>.sorted(by: "text").selecting("id")
                for try await snapshot in app.service("notes", of: Title.self).live(query).snapshots {
                    #expect(snapshot.records.map(\.id) == [1, 2] && snapshot.records.allSatisfy { $0.text == nil })
                    if (snapshot.source == .server) == (source == .server) { break }
                }
            }
            await app.outbox?.close()
        }
    }

    @Test("shows what is known, even if that is nothing, once a server has been silent for two seconds")
    func silence() async throws {
        let (clock, asked, silence) = (ManualClock(), Promise<Void>(), Promise<JSONValue>())
        let app = FeathersApp(
            transport: StubTransport { _ in
                asked.resolve(())
                return try await silence.value()
            })
        let folder = try OutboxFolder()
        var local = LocalStore.directory(folder.url.appending(path: "store", directoryHint: .isDirectory))
        local.clock = clock
        try await app.use(localStore: local)
        var live = app.service("notes").live().snapshots.makeAsyncIterator()
        async let waited: Void = {
            try await asked.value()
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(2))
        }()
        let first = try #require(await live.next())
        #expect(first.isEmpty && first.source == .stored(since: .distantPast))
        try await waited
        // A queued write shows at once.
        try await app.service("notes").outbox.create(["text": "in a tunnel"])
        #expect(try await live.next()?.map(\.state) == [.pending])
        silence.resolve([["id": 1, "text": "late"]])
        let last = try #require(await live.next())
        #expect(last.source == .server && last.count == 2)
        await app.outbox?.close()
    }

    @Test("shows records and queued writes without a server, also after a restart")
    func offline() async throws {
        let scene = try LocalScene("one", "two")
        try await scene.visit()
        scene.isOnline.withLock { $0 = false }
        for run in 1...2 {
            let app = try await scene.app()
            let notes = scene.notes(app)
            var live = notes.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            let first = try #require(await live.next())
            if run == 1 {
                #expect(first.records.map(\.text) == ["one", "two"] && first.map(\.state) == [.confirmed, .confirmed])
                try await notes.outbox.create(Note(text: "in a tunnel"))
                let second = try #require(await live.next())
                #expect(second.records.map(\.text) == ["one", "two", "in a tunnel"])
                #expect(second.map(\.state) == [.confirmed, .confirmed, .pending] && second.changes.insertions == [2])
            } else {
                #expect(first.records.map(\.text) == ["one", "two", "in a tunnel"])
                #expect(first.map(\.state) == [.confirmed, .confirmed, .pending] && first.hasPendingWrites)
                // A number, because the model's id is one.
                #expect((first.records.last?.id ?? 0) < 0)
            }
            await app.outbox?.close()
        }
    }

    @Test("shows what is fetched rather than an event from before the fetch, however late it is read")
    func eventBeforeFetch() async throws {
        let scene = try LocalScene("one")
        try await scene.visit()
        scene.isOnline.withLock { $0 = false }
        let app = try await scene.app()
        let notes = scene.notes(app)
        let clock = ManualClock()
        var live = notes.live(.sorted(by: "id")).measured(by: clock).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.records.map(\.text) == ["one"])
        // The first attempt to fetch has failed. No one reads while the event comes.
        try await clock.waitForSleepers(1)
        scene.isOnline.withLock { $0 = true }
        try await notes.patch(1, with: ["text": "mine"])
        _ = try await scene.server.patch(1, with: ["text": "theirs"], Params())
        let fetched = Promise<Void>()
        await app.service("notes").use(hooks: Hooks(after: ["find": [{ _ in fetched.resolve(()) }]]))
        clock.advance(by: .seconds(1))
        try await fetched.value()
        var last = try #require(await live.next())
        while last.source != .server { last = try #require(await live.next()) }
        #expect(last.records.map(\.text) == ["theirs"])
        await app.outbox?.close()
    }

    @Test(
        "shows an empty snapshot if nothing is known and the server cannot be reached, then what becomes known",
        .timeLimit(.minutes(10)))
    func unknown() async throws {
        let scene = try LocalScene("one")
        scene.isOnline.withLock { $0 = false }
        let app = try await scene.app()
        let notes = scene.notes(app)
        let clock = ManualClock()
        var live = notes.live(.sorted(by: "id")).measured(by: clock).snapshots.makeAsyncIterator()
        let first = try #require(await live.next())
        #expect(first.records.isEmpty && first.source == .stored(since: .distantPast) && first.total == nil)
        let write = try await notes.outbox.create(Note(text: "new"))
        let second = try #require(await live.next())
        #expect(
            second.records.map(\.text) == ["new"] && second.map(\.state) == [.pending]
                && second.source == .stored(since: .distantPast))
        try await app.outbox?.decide(.discard, for: write.id)
        #expect(try await live.next()?.records.isEmpty == true)
        scene.isOnline.withLock { $0 = true }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let last = try #require(await live.next())
        #expect(last.records.map(\.text) == ["one"] && last.source == .server)
        await app.outbox?.close()
    }

    @Test(
        "shows an empty snapshot immediately if an attempt to connect has failed, before the fetch ends",
        .timeLimit(.minutes(10)))
    func disconnected() async throws {
        let folder = try OutboxFolder()
        let transport = StubRealTimeTransport()
        transport.stub("notes", with: .value([["id": 1, "text": "one"]]))
        let app = FeathersApp(transport: transport)
        try await app.use(localStore: .directory(folder.url.appending(path: "store", directoryHint: .isDirectory)))
        transport.drop()
        try await withFeathersApp(app) { app in
            try await transport.waitForStatus { if case .waiting = $0 { true } else { false } }
            var live = app.service("notes").live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            let first = try #require(await live.next())
            #expect(first.records.isEmpty && first.source == .stored(since: .distantPast))
            transport.restore()
            let second = try #require(await live.next())
            #expect(second.records.count == 1 && second.source == .server)
        }
        await app.outbox?.close()
    }

    @Test("reports no record as skipped whose provisional id becomes a number")
    func number() async throws {
        let scene = try LocalScene("one")
        scene.isOnline.withLock { $0 = false }
        let app = try await scene.app()
        let lines = Locked<[String]>([])
        app.use(
            diagnostics: .closure { event in lines.withLock { $0.append(event.message) } },
            levels: DiagnosticLevels(.warning))
        let notes = scene.notes(app)
        var live = notes.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        try await notes.outbox.create(Note(text: "new"))
        let first = try #require(await live.next())
        #expect(first.records.map(\.text) == ["new"])
        #expect(lines.withLock { $0.filter { $0.contains("skipped") } } == [])
        await app.outbox?.close()
    }

    @Test("replaces a provisional id in the same row, and in the writes that follow")
    func provisional() async throws {
        let scene = try LocalScene("one")
        scene.isOnline.withLock { $0 = false }
        let app = try await scene.app()
        let notes = scene.notes(app)
        var live = notes.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        try await notes.outbox.create(Note(text: "new"))
        let first = try #require(await live.next())
        #expect(first.records.map(\.text) == ["new"] && first.source == .stored(since: .distantPast))
        try await notes.outbox.patch(first.records[0].id, with: ["text": "newer"])
        let second = try #require(await live.next())
        #expect(second.records.map(\.text) == ["newer"] && second.changes.updates == [0])
        scene.isOnline.withLock { $0 = true }
        try await withFeathersApp(app) { app in
            let left = try await app.outbox?.flush(within: .seconds(300))
            #expect(left?.isEmpty == true)
        }
        let records = try await scene.server.find(Params(query: .sorted(by: "id")))
        #expect(records == [["id": 1, "text": "one"], ["id": 2, "text": "newer"]])
        await app.outbox?.close()
    }

    @Test(
        "ignores and reports a damaged list",
        arguments: ["DELETE FROM records", "UPDATE records SET json = '{'", "UPDATE records SET json = '{}'"])
    func damaged(_ statement: String) async throws {
        let scene = try LocalScene("one")
        try await scene.visit()
        let directory = try #require(try SafeDirectory.open(scene.place.path))
        let database = try Database.open("local.sqlite", in: directory, JournalTables.schema)
        try database.execute(statement)
        database.close()
        let app = try await scene.app()
        var live = scene.notes(app).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        let first = try #require(await live.next())
        #expect(first.source == .server && first.records.map(\.text) == ["one"])
        #expect(scene.warnings.withLock { $0.count } == 1)
        #expect(scene.warnings.withLock { $0.first?.contains("damaged") } == true)
        await app.outbox?.close()
    }

    @Test("ignores and reports a list that is no longer of a model")
    func undecodable() async throws {
        struct Other: Codable, Sendable { var title: String }
        let scene = try LocalScene("one")
        try await scene.visit()
        scene.isOnline.withLock { $0 = false }
        let app = try await scene.app()
        let others = app.service("notes", of: Other.self)
        var live = others.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        _ = try await others.json.outbox.create(["title": "new"])
        let first = try #require(await live.next())
        #expect(first.records.map(\.title) == ["new"])
        #expect(scene.warnings.withLock { $0.count } == 1)
        await app.outbox?.close()
    }

    @Test("belongs to one writer; others are refused, and may read")
    func writers() async throws {
        let scene = try LocalScene("one")
        try await scene.visit()
        let app = try await scene.app()
        await #expect {
            _ = try await scene.app()
        } throws: { ($0 as? FeathersError)?.message.contains("another outbox uses it") == true }
        _ = try await scene.notes(app).outbox.create(Note(text: "queued"))
        scene.isOnline.withLock { $0 = false }
        let reader = try await scene.app(LocalStore.readOnly)
        var live = scene.notes(reader).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        let first = try #require(await live.next())
        #expect(first.records.map(\.text) == ["one", "queued"] && first.map(\.state) == [.confirmed, .pending])
        #expect(reader.outbox == nil)
        await app.outbox?.close()
    }

    @Test("shows each user that user's records only")
    func identities() async throws {
        let scene = try LocalScene("one")
        try await scene.visit(as: "alice")
        scene.isOnline.withLock { $0 = false }
        let app = try await scene.app(as: "bob")
        let notes = scene.notes(app)
        var live = notes.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        try await notes.outbox.create(Note(text: "of bob"))
        #expect(try await live.next()?.records.map(\.text) == ["of bob"])
        app.setIdentity(Identity("alice"))
        #expect(try await live.next()?.records == [])
        let hers = try #require(await live.next())
        #expect(hers.records.map(\.text) == ["one"] && !hers.hasPendingWrites)
        await app.outbox?.close()
    }

    @Test("does not show a user the result of a write that the previous user made", arguments: [true, false])
    func lateResult(_ isQueued: Bool) async throws {
        let (arrived, released) = (Promise<Void>(), Promise<Void>())
        let app = FeathersApp(
            transport: StubTransport { request in
                guard request.method == .create else { return [] }
                arrived.resolve(())
                try await released.value()
                return ["id": 1, "text": "of alice"]
            })
        app.setIdentity(Identity("alice"))
        let folder = try OutboxFolder()
        try await app.use(localStore: .directory(folder.url.appending(path: "store", directoryHint: .isDirectory)))
        try await withFeathersApp(app) { app in
            let notes = app.service("notes")
            let queued = isQueued ? try await notes.outbox.create(["text": "of alice"]) : nil
            async let created = isQueued ? queued?.result() : notes.create(["text": "of alice"])
            try await arrived.value()
            app.setIdentity(Identity("bob"))
            var live = notes.live().snapshots.makeAsyncIterator()
            #expect(try await live.next()?.records == [])
            released.resolve(())
            _ = try await created
            // Whatever was emitted is shown before this.
            try await notes.outbox.create(["text": "of bob"])
            #expect(try await live.next()?.records.map { $0["text"] } == ["of bob"])
        }
        await app.outbox?.close()
    }

    @Test(
        "stores a result that arrives after its user has left only if the user has returned", arguments: [true, false])
    func resultOfLeaver(hasReturned: Bool) async throws {
        let (arrived, released) = (Promise<Void>(), Promise<Void>())
        let app = FeathersApp(
            transport: StubTransport { _ in
                arrived.resolve(())
                try await released.value()
                return ["id": 1, "text": "of alice"]
            })
        app.setIdentity(Identity("alice"))
        let folder = try OutboxFolder()
        try await app.use(localStore: .directory(folder.url.appending(path: "store", directoryHint: .isDirectory)))
        try await withFeathersApp(app) { app in
            let queued = try await app.service("notes").outbox.create(["text": "of alice"])
            try await arrived.value()
            app.setIdentity(Identity("bob"))
            if hasReturned { app.setIdentity(Identity("alice")) }
            released.resolve(())
            _ = try await queued.result()
            let records = try await app.outbox?.records(at: "notes")
            #expect(records?.map(\.identity) == (hasReturned ? [Identity("alice")] : []))
        }
        await app.outbox?.close()
    }

    @Test("removes a user's records at log-out if the app says so", arguments: [true, false])
    func logOut(_ removes: Bool) async throws {
        let scene = try LocalScene("one")
        let store: (URL) -> LocalStore = { folder in
            var store = LocalStore.directory(folder)
            store.removesResultsAtLogOut = removes
            return store
        }
        try await scene.visit(as: "alice", store)
        #expect(try await scene.lists().count == 1)
        let app = try await scene.app(store, as: "alice")
        try await withFeathersApp(app) { app in app.setIdentity(nil) }
        #expect(try await scene.lists().count == (removes ? 0 : 1))
        await app.outbox?.close()
    }

    @Test(
        "shows offline what was executed while no query was open, however long ago, also in a process that only reads")
    func executedUnseen() async throws {
        let scene = try LocalScene("one")
        try await scene.visit()
        let app = try await scene.app()
        try await withFeathersApp(app) { app in
            _ = try await scene.notes(app).outbox.create(Note(text: "two")).result()
        }
        await app.outbox?.close()
        scene.isOnline.withLock { $0 = false }
        for store in [LocalStore.directory, LocalStore.readOnly] {
            let later = try await scene.app(store)
            var live = scene.notes(later).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            #expect(try await live.next()?.records.map(\.text) == ["one", "two"])
            await later.outbox?.close()
        }
    }

    @Test("removes the records of executed writes with those of lists")
    func executedRemoved() async throws {
        let scene = try LocalScene("one")
        let app = try await scene.app(as: "alice")
        try await withFeathersApp(app) { app in
            _ = try await scene.notes(app).outbox.create(Note(text: "a secret")).result()
        }
        try await app.localStore?.removeAll(of: Identity("bob"))
        func isStored() throws -> Bool {
            try ["local.sqlite", "local.sqlite-wal"].contains { name in
                try Data(contentsOf: scene.place.appending(path: name)).range(of: Data("a secret".utf8)) != nil
            }
        }
        #expect(try isStored())
        try await app.localStore?.removeAll(of: Identity("alice"))
        #expect(try !isStored())
        #expect(try await app.outbox?.records(at: "notes").isEmpty == true)
        await app.outbox?.close()
    }

    @Test("removes a user's records at log-out also while the app is not running")
    func logOutAtRest() async throws {
        let scene = try LocalScene("one")
        let store: (URL) -> LocalStore = { folder in
            var store = LocalStore.directory(folder)
            store.removesResultsAtLogOut = true
            return store
        }
        for user in ["alice", "bob"] { try await scene.visit(as: user, store) }
        let app = try await scene.app(store, as: "alice")
        app.setIdentity(nil)
        await app.storedLists?.removed()
        #expect(try await scene.lists().count == 1)
        app.setIdentity(Identity("bob"))
        app.setIdentity(Identity("alice"))
        await app.storedLists?.removed()
        #expect(try await scene.lists().isEmpty)
        await app.outbox?.close()
    }

    @Test("removes the records of one user or of all, and refuses to where another process writes")
    func removal() async throws {
        let scene = try LocalScene("one")
        try await scene.visit(as: "alice")
        try await scene.visit(as: "bob")
        #expect(try await scene.lists().count == 2)
        let app = try await scene.app()
        await #expect { try await scene.app(LocalStore.readOnly).localStore?.removeAll() } throws: {
            FeathersError.Code.badRequest ~= $0
        }
        try await app.localStore?.removeAll(of: Identity("alice"))
        #expect(try await scene.lists().count == 1)
        try await app.localStore?.removeAll()
        #expect(try await scene.lists().isEmpty)
        await app.outbox?.close()
    }
}
