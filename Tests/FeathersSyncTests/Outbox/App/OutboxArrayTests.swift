import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// A creation of several records, each of which has a row and a provisional id.
@Suite("Queued creations of several records", .timeLimit(.minutes(10)))
struct OutboxArrayTests {
    private let folder: OutboxFolder
    private let server = MemoryService(startID: 1, multi: .only([.create]))

    init() throws { folder = try OutboxFolder() }

    private func app(_ configure: (inout OutboxOptions) -> Void = { _ in }) async throws -> FeathersApp {
        let app = FeathersApp(transport: StubTransport(services: ["notes": server]))
        try await app.use(
            localStore: .directory(folder.url.appending(path: "store", directoryHint: .isDirectory)), configure)
        return app
    }

    @Test("show a row for each, and take later writes to each, also after a restart", arguments: [false, true])
    func rows(_ restarts: Bool) async throws {
        var app = try await app()
        var live = app.service("notes").live(.sorted(by: "rank")).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.records == [])
        let queued = try await app.service("notes").outbox.create([["rank": 1], ["rank": 2], ["rank": 3]])
        let shown = try #require(await live.next())
        let ids = shown.records.compactMap { $0["id"]?.string }
        #expect(
            ids == (0..<3).map { "\(queued.id.text)-\($0)" } && shown.map(\.state) == [.pending, .pending, .pending])
        try await app.service("notes").outbox.patch(ids[1], with: ["text": "second"])
        #expect(try await live.next()?.records.map { $0["text"]?.string } == [nil, "second", nil])
        try await app.service("notes").outbox.remove(ids[2])
        #expect(try await live.next()?.records.map { $0["rank"] } == [1, 2])
        if restarts {
            await app.outbox?.close()
            app = try await self.app()
        }
        let left = try await withFeathersApp(app) { app in try await app.outbox?.flush(within: .seconds(300)) }
        #expect(left?.isEmpty == true)
        let records = try await server.find(Params(query: .sorted(by: "rank")))
        #expect(records == [["id": 1, "rank": 1], ["id": 2, "rank": 2, "text": "second"]])
        if !restarts {
            var last = try await live.next()
            while last?.source != .server || last?.hasPendingWrites == true { last = try await live.next() }
            #expect(last.map { Array($0.records) } == records.array)
        }
        await app.outbox?.close()
    }

    @Test("keep the ids that the server has assigned when the process ends between the creation and later writes")
    func journaled() async throws {
        let held = Promise<Void>()
        let server = server
        let first = FeathersApp(
            transport: StubTransport { request in
                if request.method == .patch { try await held.value() }
                return try await server.respond(to: request).result
            })
        let place = folder.url.appending(path: "store", directoryHint: .isDirectory)
        try await first.use(localStore: .directory(place))
        let queued = try await first.service("notes").outbox.create([["rank": 1], ["rank": 2]])
        try await first.service("notes").outbox.patch("\(queued.id.text)-1", with: ["text": "second"])
        try await withFeathersApp(first) { _ in _ = try await queued.result() }
        held.resolve(())
        await first.outbox?.close()
        let second = try await app { $0.isKeyed = true }
        #expect(second.outbox?.state.entries.map(\.write.recordID) == [2])
        await second.outbox?.close()
    }

    @Test("get an id each where ids are the keys")
    func keyed() async throws {
        let app = try await app { options in
            options.isKeyed = true
            options.keyPlaces = [.recordID()]
        }
        let queued = try await app.service("notes").outbox.create([["rank": 1], ["id": "own", "rank": 2], ["rank": 3]])
        let ids = (queued.write.data?.array ?? []).compactMap { $0["id"]?.string }
        #expect(ids.count == 3 && Set(ids).count == 3 && ids[1] == "own")
        let live = app.service("notes").live(.sorted(by: "rank")).snapshots
        for try await snapshot in live where snapshot.records.count == 3 {
            #expect(snapshot.records.compactMap { $0["id"]?.string } == ids)
            break
        }
        await app.outbox?.close()
    }
}
