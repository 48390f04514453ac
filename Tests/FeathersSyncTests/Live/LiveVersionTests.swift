import FeathersCore
import FeathersTesting
import Synchronization
import Testing

@testable import FeathersSync

@Suite("A live query of records with a version", .timeLimit(.minutes(2)))
struct LiveVersionTests {
    @Test("never shows an older state again, and needs no fetch to know")
    func olderEvents() async throws {
        let finds = Atomic(0)
        let transport = StubRealTimeTransport()
        transport.stub(
            "notes", .find,
            with: ServiceStub { _ in
                finds.add(1, ordering: .relaxed)
                return [["id": 1, "text": "b", "at": "2026-11-26T10:00:02.000Z"]]
            })
        let app = FeathersApp(transport: transport)
        app.version(of: "/notes/", by: "at")
        try await app.connect()
        var live = app.service("notes").live(.sorted(by: "id")).makeAsyncIterator()
        #expect(try await live.next()?.map { $0["text"] } == ["b"])
        transport.emit(.patched, of: "notes", ["id": 1, "text": "c", "at": "2026-11-26T12:00:03.000+02:00"])
        transport.emit(.patched, of: "notes", ["id": 1, "text": "a", "at": "2026-11-26T10:00:01.000Z"])
        transport.emit(.created, of: "notes", ["id": 2, "text": "last", "at": "2026-11-26T10:00:04.000Z"])
        while let shown = try await live.next() {
            #expect(shown.first?["text"] == "c")
            if shown.count == 2 { break }
        }
        #expect(finds.load(ordering: .relaxed) == 1)
        await app.disconnect()
    }

    @Test("with a route, the version is ignored: two records may have the same id")
    func route() async throws {
        let app = FeathersApp()
        try await app.use(MemoryService(startID: 1), at: "teams/:team/notes")
        app.version(of: "teams/:team/notes", by: "at")
        let service = app.service("teams/:team/notes")
        let sender = await app.resolvedSender()
        let red = app.liveStores.store(of: service, ["team": "red"], id: "id", sender)
        #expect(red.withState { $0.store.records.version == nil })
        let all = app.liveStores.store(of: service, [:], id: "id", sender)
        #expect(all.withState { $0.store.records.version } == "at")
    }
}
