import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A live count on this device", .timeLimit(.minutes(5)))
struct StoredCountTests {
    private let online = Locked(true)

    @Test("counts queued writes as they show")
    func queued() async throws {
        let pages = MemoryService(
            startID: 1, pagination: Pagination(default: 10, max: 10),
            records: [["id": 1, "text": "a"], ["id": 2, "text": "b"], ["id": 3, "text": "b"]])
        let folder = try OutboxFolder()
        let app = FeathersApp(
            transport: StubTransport { [online] request in
                guard online.withLock({ $0 }) else {
                    throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
                }
                return try await pages.respond(to: request).result
            })
        var store = LocalStore.directory(folder.url.appending(path: "store", directoryHint: .isDirectory))
        store.responseDelay = .seconds(3600)
        try await app.use(localStore: store)
        let notes = app.service("notes")
        try await withFeathersApp(app) { _ in
            var live = notes.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            while let snapshot = try await live.next(), snapshot.source != .server {}
            var counts = notes.liveCount(.where("text", "b")).makeAsyncIterator()
            try await next(&counts, 2)
            online.withLock { $0 = false }
            try await notes.outbox.create(["text": "b"])
            try await next(&counts, 3)
            try await notes.outbox.create(["text": "c"])
            try await notes.outbox.patch(1, with: ["text": "b"])
            try await next(&counts, 4)
            try await notes.outbox.remove(2)
            try await next(&counts, 3)
            online.withLock { $0 = true }
            _ = try await app.outbox?.flush(within: .seconds(60))
            #expect(try await notes.find(.where("text", "b").limit(0)).total == 3)
        }
        await app.outbox?.close()
    }

    @Test("opens with the last count without a server")
    func stored() async throws {
        let folder = try OutboxFolder()
        for isOnline in [true, false] {
            let app = FeathersApp(
                transport: StubTransport { _ in
                    guard isOnline else {
                        throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
                    }
                    return ["data": [], "limit": 0, "skip": 0, "total": 12]
                })
            try await app.use(
                localStore: .directory(folder.url.appending(path: "store", directoryHint: .isDirectory)))
            try await withFeathersApp(app) { app in
                var counts = app.service("notes").liveCount(.where("text", "b")).makeAsyncIterator()
                try await next(&counts, 12)
            }
            await app.outbox?.close()
        }
    }
}
