import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A replica", .timeLimit(.minutes(5)))
struct ReplicaTests {
    typealias Message = ReplicaScene.Message

    @Test("is copied in pages, and answers without a request", arguments: ReplicaServer.Removing.allCases)
    func firstCopy(_ removing: ReplicaServer.Removing) async throws {
        let scene = try ReplicaScene(removing, page: 100)
        scene.fill(950)
        try await scene.run { app in
            let replica = try await scene.replica(app)
            let progress = await replica.upToDate()
            #expect(progress?.count == 950 && progress?.total == 950)
            scene.server.forgetRequests()
            #expect(try await replica.texts() == scene.expected())
            #expect(
                try await replica.find(.where(.room, "a").sorted(by: .updatedAt, .descending).limit(2)).map(\.id) == [
                    948, 945,
                ])
            #expect(try await replica.get(7).text == "m7")
            #expect(scene.server.requests.isEmpty)
        }
    }

    @Test("continues a first copy that was interrupted, and finds what was removed meanwhile")
    func interruption() async throws {
        let scene = try ReplicaScene(.forgets, page: 100)
        scene.fill(950)
        scene.server.requestLimit.withLock { $0 = 4 }
        try await scene.run { app in
            let replica = try await scene.replica(app)
            for await progress in replica.progress where progress.failure != nil {
                #expect(!progress.isComplete && (300..<950).contains(progress.count))
                break
            }
            await #expect(throws: FeathersError.self) { _ = try await replica.find() }
        }
        scene.server.remove(7)
        scene.server.put(8, ["text": "changed"])
        scene.server.requestLimit.withLock { $0 = .max }
        scene.server.forgetRequests()
        try await scene.run { app in
            let replica = try await scene.replica(app)
            await replica.upToDate()
            #expect(try await replica.texts() == scene.expected())
            // What was copied is not copied again: records are read from a version on, or by their ids.
            #expect(
                scene.server.requests.allSatisfy { query in
                    ["updatedAt", "$select", "id"].contains { query.json[$0] != nil }
                })
        }
    }

    @Test("reads what has changed after an absence", arguments: ReplicaServer.Removing.allCases)
    func differences(_ removing: ReplicaServer.Removing) async throws {
        let scene = try ReplicaScene(removing)
        scene.fill(500)
        try await scene.run { app in try await scene.replica(app).upToDate() }
        scene.server.put(3, ["text": "changed"])
        scene.server.put(nil, ["text": "new"])
        scene.server.remove(8)
        scene.server.forgetRequests()
        try await scene.run { app in
            let replica = try await scene.replica(app, every: removing == .forgets ? .zero : .seconds(3600))
            await replica.upToDate()
            #expect(try await replica.texts() == scene.expected())
            // Comparing takes two more, each second.
            if removing != .forgets { #expect(scene.server.requests.count <= 3, "\(scene.server.requests)") }
        }
    }

    @Test("follows events, and what was missed while the connection was down")
    func events() async throws {
        let scene = try ReplicaScene()
        scene.fill(30)
        try await scene.run { app in
            let replica = try await scene.replica(app)
            await replica.upToDate()
            var snapshots = replica.live(.where(.room, "a").sorted(by: .updatedAt)).snapshots.makeAsyncIterator()
            #expect(try await snapshots.next()?.records.count == 10)
            scene.server.put(nil, ["text": "new", "room": "a"])
            #expect(try await snapshots.next()?.records.last?.text == "new")
            scene.server.isOnline.withLock { $0 = false }
            scene.server.transport.drop(.transportClose)
            scene.server.put(1, ["room": "a"])
            scene.server.remove(3)
            scene.server.transport.restore()
            // Nothing says that there is nothing else.
            while let snapshot = try await snapshots.next(), snapshot.source == .server {}
            scene.server.isOnline.withLock { $0 = true }
            let expected = scene.expected(["room": "a"])
            while let snapshot = try await snapshots.next() {
                if snapshot.source == .server, snapshot.records.map(\.text).sorted() == expected { break }
            }
            #expect(try await replica.texts() == scene.expected())
        }
    }

    @Test("answers offline after a restart, and says how old it is")
    func offline() async throws {
        let scene = try ReplicaScene()
        scene.fill(30)
        try await scene.run { app in try await scene.replica(app).upToDate() }
        scene.server.isOnline.withLock { $0 = false }
        try await scene.run { app in
            let replica = try await scene.replica(app)
            let texts = try await replica.texts(.where(.room, "b"))
            #expect(texts == scene.expected(["room": "b"]))
            for try await snapshot in replica.live().snapshots {
                var age = Double.infinity
                if case .stored(let date) = snapshot.source { age = -date.timeIntervalSinceNow }
                #expect(age < 60 && snapshot.records.count == 30)
                break
            }
            // A live query of the service inside it opens from it too.
            let count = try await scene.messages(app).liveCount(.where(.room, "c")).first { _ in true }
            #expect(count == 10)
        }
    }

    @Test("finds records that left the conditions or may no longer be seen, by comparing ids")
    func comparison() async throws {
        let scene = try ReplicaScene()
        scene.fill(60)
        try await scene.run { app in
            try await scene.replica(app, .where(.room, "a")).upToDate()
        }
        scene.server.put(3, ["room": "b"])
        scene.server.state.withLock { _ = $0.hidden.insert(6) }
        try await scene.run { app in
            let replica = try await scene.replica(app, .where(.room, "a"), every: .zero)
            await replica.upToDate()
            #expect(try await replica.texts() == scene.expected(["room": "a"]))
            #expect(try await replica.texts().count == 18)
        }
    }

    @Test("is of one user")
    func users() async throws {
        let scene = try ReplicaScene()
        scene.fill(30)
        try await scene.run(as: "ada") { app in
            let replica = try await scene.replica(app)
            await replica.upToDate()
            app.setIdentity(Identity("bob"))
            scene.server.isOnline.withLock { $0 = false }
            #expect(replica.stored.open.map { $0.key.service.identity?.name != "bob" } ?? true)
            scene.server.isOnline.withLock { $0 = true }
            await replica.upToDate()
        }
        scene.server.isOnline.withLock { $0 = false }
        try await scene.run(as: "ada") { app in
            let texts = try await scene.replica(app).texts()
            #expect(texts.count == 30)
        }
    }

    @Test("shows queued writes, and takes their results")
    func writes() async throws {
        let scene = try ReplicaScene()
        scene.fill(9)
        try await scene.run { app in
            let replica = try await scene.replica(app)
            await replica.upToDate()
            let messages = app.service("messages")
            _ = try await messages.outbox.patch(1, with: ["text": "queued"])
            var texts = try await replica.texts()
            #expect(texts.contains("queued"))
            for try await snapshot in replica.live().snapshots where !snapshot.hasPendingWrites { break }
            texts = try await replica.texts()
            #expect(texts == scene.expected() && texts.contains("queued"))
        }
    }

    @Test("is removed with its records")
    func removal() async throws {
        let scene = try ReplicaScene()
        scene.fill(30)
        try await scene.run { app in
            let replica = try await scene.replica(app)
            await replica.upToDate()
            try await replica.remove()
            let contents = try await app.localStore?.contents()
            #expect(contents?.results.isEmpty == true && contents?.records.allSatisfy { $0.size == 0 } == true)
        }
    }

    @Test("is one for the same arguments, and refuses other ones for the same records")
    func twice() async throws {
        let scene = try ReplicaScene()
        let app = try await scene.app()
        let first = try await scene.replica(app)
        #expect(try await scene.replica(app).stored === first.stored)
        #expect(try await scene.replica(app, .where(.room, "a")).stored !== first.stored)
        let conflict = await #expect(throws: FeathersError.self) {
            _ = try await app.replicate(scene.messages(app), version: .updatedAt, removals: scene.removals())
        }
        #expect(conflict?.code == .conflict)
        await app.outbox?.close()
    }

    @Test("refuses what it cannot keep")
    func refusals() async throws {
        let scene = try ReplicaScene()
        scene.fill(3)
        scene.server.state.withLock { $0.records[2]?["updatedAt"] = nil }
        try await scene.run { app in
            await #expect(throws: FeathersError.self) { _ = try await scene.replica(app, Query<Message>().limit(3)) }
            let replica = try await scene.replica(app)
            for await progress in replica.progress {
                guard let failure = progress.failure else { continue }
                #expect(failure.message.contains("'updatedAt'") && failure.message.contains("'2'"))
                break
            }
        }
    }

    @Test("says that a server does not find records by their versions, instead of missing some")
    func comparingText() async throws {
        let scene = try ReplicaScene(page: 10)
        scene.fill(30)
        scene.server.comparesText.withLock { $0 = true }
        try await scene.run { app in
            let replica = try await scene.replica(app)
            for await progress in replica.progress {
                guard let failure = progress.failure else { continue }
                #expect(failure.message.contains("'updatedAt'") && !progress.isComplete)
                break
            }
        }
    }
}
