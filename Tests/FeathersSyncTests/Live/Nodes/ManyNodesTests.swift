import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite(
    "Several nodes of one application", .serialized, .inTurn, .timeLimit(.minutes(10)),
    .enabled(
        if: !TestBackend.isSkipped && RedisServer.isInstalled,
        "needs redis-server (Debian: apt-get install redis-server)"))
struct ManyNodesTests {
    struct Item: Codable, Queryable, Equatable {
        var id: Int?
        var room: String
        var rank: Int

        enum CodingKeys: String, CodingKey { case id, room, rank }
    }

    @Test("A change on one node reaches who listens on another, and is found there")
    func acrossNodes() async throws {
        let nodes = try await Nodes(2)
        let (first, second) = (try await nodes.app(on: 0), try await nodes.app(on: 1))
        try await withFeathersApp(second) { second in
            for await health in second.healthUpdates() where health.isReady { break }
            let created = second.service("messages").events(.created)
            let record = try await withFeathersApp(first) { first in
                try await first.service("messages").create(["text": "from afar"])
            }
            #expect(try await created.first() == record)
            #expect(try await second.service("messages").get(record.id) == record)
        }
    }

    @Test(
        "A client that loses its node under load goes on with another: signed in, calls ended, live result up to date"
    )
    func killed() async throws {
        try await MachineLoad.settles()
        let nodes = try await Nodes(2)
        let app = nodes.app()
        try app.use(authentication: AuthenticationOptions())
        let room = UUID().uuidString
        let query = Query<Item>.where(.room, room).sorted(by: .rank, .descending).limit(8)
        let survivor = try await nodes.app(on: 0)
        try await withFeathersApp(survivor) { survivor in
            let others = survivor.service("messages", of: Item.self)
            try await withFeathersApp(app) { app in
                // The first connection through the balancer is to the second node.
                try await app.authenticate(.local(email: "alice@example.com", password: "p4ssw0rd"))
                let own = app.service("messages", of: Item.self)
                let answered = Locked(0)
                let (halfway, killed) = (Promise<Void>(), Promise<Void>())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    var live = own.live(query).makeAsyncIterator()
                    #expect(try await live.next() == [])
                    group.addTask {
                        // Begun long before the end of its node.
                        await #expect {
                            try await app.service("slow").get(60_000, params: Params(timeout: .seconds(120)))
                        } throws: { error in
                            (error as? FeathersError)?.code == .unavailable
                                && (error as? FeathersError)?.execution == .mayHaveExecuted
                        }
                    }
                    for caller in 1...12 {
                        group.addTask {
                            var (number, after) = (0, 0)
                            while after < 10 {
                                number += 1
                                if killed.isSettled { after += 1 }
                                do {
                                    try await own.create(Item(room: room, rank: caller + number % 20))
                                    _ = try await app.service("secured").find()
                                    let count = answered.withLock { answered in
                                        answered += 1
                                        return answered
                                    }
                                    if count == 100 { halfway.resolve(()) }
                                } catch let error as FeathersError where error.execution == .mayHaveExecuted {
                                    // Sent to the node that is no more.
                                    #expect(killed.isSettled || halfway.isSettled)
                                }
                            }
                        }
                    }
                    group.addTask {
                        for number in 1...60 { try await others.create(Item(room: room, rank: 1000 + number)) }
                    }
                    group.addTask {
                        try await halfway.value()
                        try await nodes.nodes[1].kill()
                        killed.resolve(())
                    }
                    try await group.waitForAll()
                    try await others.create(Item(room: room, rank: 5000))
                    let fresh = try await others.find(query).data
                    #expect(fresh.count == 8 && fresh.first?.rank == 5000)
                    while let records = try await live.next(), records != fresh {}
                }
                // Nearly all that was called after it.
                #expect(answered.withLock { $0 } >= 100 + 12 * 8)
                #expect(app.authentication.result != nil)
                // Events of the survivor reach who has come over to it.
                let next = own.events(.created)
                let last = try await others.create(Item(room: room, rank: 6000))
                #expect(await next.first { $0.room == room } == last)
                #expect(try await nodes.balancer.counters().connections >= 2)
            }
        }
        try await nodes.balancer.close()
    }
}
