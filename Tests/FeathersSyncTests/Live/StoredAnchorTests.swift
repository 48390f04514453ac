import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A list around a record without a server", .timeLimit(.minutes(5)))
struct StoredAnchorTests {
    private typealias Records = Query<JSONValue>

    /// A server with numbered records, every value three times, and an app that has stored some of them.
    private struct Scene: Sendable {
        let local: LocalScene

        init(_ queries: Records...) async throws {
            local = try LocalScene()
            for number in 0..<100 {
                _ = try await local.server.create(
                    ["n": .integer(Int64(number / 3)), "odd": .bool(number % 2 == 1)], Params())
            }
            let app = try await local.app()
            for query in queries {
                var live = app.service("records").live(query).snapshots.makeAsyncIterator()
                while try await live.next()?.source != .server {}
            }
            await app.storedLists?.write(app.diagnostics)
            await app.outbox?.close()
            local.isOnline.withLock { $0 = false }
        }
    }

    private func ids(_ snapshot: LiveSnapshot<JSONValue>?) -> [Int64] {
        snapshot?.records.map { $0["id"]?.integer ?? -1 } ?? []
    }

    private func first(_ query: LiveQuery<JSONValue>) async throws -> LiveSnapshot<JSONValue>? {
        var live = query.snapshots.makeAsyncIterator()
        return try await live.next()
    }

    private func isStored(_ snapshot: LiveSnapshot<JSONValue>) -> Bool {
        if case .stored(let date) = snapshot.source { abs(date.timeIntervalSinceNow) < 60 } else { false }
    }

    private static let up = Records.sorted(by: "n")
    private static let down = Records.sorted(by: "n", .descending)

    @Test("shows what a stored list has, whatever its limit, at both ends")
    func sameOrder() async throws {
        let scene = try await Scene(Self.up.limit(60))
        let app = try await scene.local.app()
        let query = app.service("records").live(Self.up).window(around: 30, of: 6)
        var live = query.snapshots.makeAsyncIterator()
        var snapshot = try #require(try await live.next())
        #expect(ids(snapshot) == Array(27..<33) && isStored(snapshot))
        #expect(snapshot.hasMore && snapshot.hasMoreBefore)
        #expect(try await query.loadMore(1_000, at: .end))
        #expect(try await !query.loadMore(1_000, at: .start))
        // The rest of the list is not on this device, as `hasMore` says.
        while ids(snapshot).first != 1 || snapshot.count < 60 { snapshot = try #require(try await live.next()) }
        #expect(ids(snapshot).starts(with: 1...60) && snapshot.hasMore && !snapshot.hasMoreBefore)
        await app.outbox?.close()
    }

    @Test("shows what a stored list in the opposite order has")
    func oppositeOrder() async throws {
        let scene = try await Scene(Self.down.limit(60), Records.where("odd", true).sorted(by: "n"))
        let app = try await scene.local.app()
        var live = app.service("records").live(Self.up).window(around: 90, of: 6).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(ids(snapshot) == Array(87..<93) && isStored(snapshot))
        // A list with other conditions says nothing of the records around one.
        live = app.service("records").live(Self.up).window(around: 2, of: 6).snapshots.makeAsyncIterator()
        let alone = try #require(try await live.next())
        #expect(ids(alone) == [2] && alone.hasMore && alone.hasMoreBefore)
        await app.outbox?.close()
    }

    @Test("applies queued writes, and shows the server's records when it can be reached again")
    func backOnline() async throws {
        let scene = try await Scene(Self.up.limit(60))
        let app = try await scene.local.app()
        let records = app.service("records")
        try await records.outbox.remove(32)
        let clock = ManualClock()
        var live = records.live(Self.up).window(around: 31, of: 6).measured(by: clock).snapshots.makeAsyncIterator()
        #expect(try await ids(live.next()) == [28, 29, 30, 31, 33, 34])
        _ = try await scene.local.server.patch(30, with: ["n": 100], Params())
        scene.local.isOnline.withLock { $0 = true }
        let pump = Task {
            while true {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(60))
            }
        }
        defer { pump.cancel() }
        while true {
            let snapshot = try #require(try await live.next())
            if snapshot.source == .server, ids(snapshot) == [27, 28, 29, 31, 33, 34] { break }
        }
        await app.outbox?.close()
    }

    @Test("says at once that a record is not on this device, also while a connection cannot be opened")
    func missing() async throws {
        let scene = try await Scene(Self.up.limit(10))
        let app = try await scene.local.app()
        let away = app.service("records").live(Self.up).window(around: 80, of: 6)
        let error = await #expect(throws: FeathersError.self) { try await first(away) }
        #expect(error?.code == .unavailable)
        await app.outbox?.close()
        let transport = StubRealTimeTransport()
        let later = FeathersApp(transport: transport)
        var store = LocalStore.directory(scene.local.place)
        store.responseDelay = .seconds(3600)
        try await later.use(localStore: store)
        transport.drop()
        try await withFeathersApp(later) { app in
            let records = app.service("records")
            let error = await #expect(throws: FeathersError.self) {
                try await first(records.live(Self.up).window(around: 80, of: 6))
            }
            #expect(error?.code == .notStored && error?.message.contains("'80'") == true)
            let snapshot = try await first(records.live(Self.up).window(around: 5, of: 6))
            #expect(ids(snapshot) == Array(2..<8))
        }
        await later.outbox?.close()
    }

    @Test("shows what an open list has, although the connection is lost, and all of a long list from disk")
    func openLists() async throws {
        let scene = try await Scene()
        scene.local.isOnline.withLock { $0 = true }
        for number in 100..<400 {
            _ = try await scene.local.server.create(["n": .integer(Int64(number / 3)), "odd": false], Params())
        }
        let app = try await scene.local.app()
        let records = app.service("records")
        var list = records.live(Self.up, stores: false).snapshots.makeAsyncIterator()
        while try await list.next()?.source != .server {}
        scene.local.isOnline.withLock { $0 = false }
        #expect(try await ids(first(records.live(Self.up).window(around: 150, of: 6))) == Array(147..<153))
        scene.local.isOnline.withLock { $0 = true }
        var stored = records.live(Self.up).snapshots.makeAsyncIterator()
        while try await stored.next()?.source != .server {}
        await app.storedLists?.write(app.diagnostics)
        await app.outbox?.close()
        scene.local.isOnline.withLock { $0 = false }
        let later = try await scene.local.app()
        var opened = later.service("records").live(Self.up).snapshots.makeAsyncIterator()
        #expect(try await opened.next() != nil)
        let query = later.service("records").live(Self.up).window(around: 150, of: 6)
        var live = query.snapshots.makeAsyncIterator()
        #expect(try await ids(live.next()) == Array(147..<153))
        try await query.loadMore(500)
        var snapshot = try #require(try await live.next())
        while snapshot.count < 254 { snapshot = try #require(try await live.next()) }
        #expect(ids(snapshot).last == 400 && !snapshot.hasMore)
        await later.outbox?.close()
    }

    @Test("works in a process that only reads")
    func reader() async throws {
        let scene = try await Scene(Self.up)
        let reader = try await scene.local.app(LocalStore.readOnly)
        let snapshot = try await first(reader.service("records").live(Self.up).window(around: 30, of: 6))
        #expect(ids(snapshot) == Array(27..<33))
    }

    @Test("shows nothing of another user, also after a sign-in")
    func users() async throws {
        let scene = try await Scene(Self.up)
        let app = try await scene.local.app()
        var live = app.service("records").live(Self.up).window(around: 30, of: 6).snapshots.makeAsyncIterator()
        #expect(try await ids(live.next()) == Array(27..<33))
        app.setIdentity(Identity("bob"))
        #expect(try await ids(live.next()).isEmpty)
        let other = app.service("records").live(Self.up).window(around: 30, of: 6)
        let error = await #expect(throws: FeathersError.self) { try await first(other) }
        #expect(error?.code == .unavailable)
        await app.outbox?.close()
    }
}
