import Feathers
import TestBackend
import Testing

/// Servers whose lists would have a client ask without end, or ask for what a record says.
@Suite("Hostile lists", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HostileListTests {
    private struct Member: Codable, Sendable {
        var id: Int
    }

    private struct Reaction: Codable, Sendable, Queryable {
        enum CodingKeys: String, CodingKey { case id, noteID }
        typealias QueryKeys = CodingKeys

        var id: Int
        var noteID: Int?
    }

    private struct Fan: Codable, Sendable, Queryable {
        enum CodingKeys: String, CodingKey { case id, memberIDs }
        typealias QueryKeys = CodingKeys

        static let members = relation(toMany: Member.self, at: "members", byAll: .memberIDs)
        static let reactions = relation(toMany: Reaction.self, at: "endless", by: .noteID)

        var id: Int
        var memberIDs: [Int]?
    }

    /// An app that is connected if it has a connection.
    private func app(_ subject: Subject, _ server: HostileServer) async throws -> FeathersApp {
        let app = try await subject.app(server, Adversary.longDeadline)
        if subject.connects { try await app.connect() }
        return app
    }

    @Test("A record that refers to 20,000 others is shown, after at most 1,100 calls", arguments: Subject.ways)
    func fan(_ subject: Subject) async throws {
        let server = try await HostileServer("hostile lists", on: Adversary.backend)
        let app = try await app(subject, server)
        let live = app.service("fan", of: Fan.self).live().including(Fan.members)
        var snapshots = live.snapshots.makeAsyncIterator()
        let row = try #require(try await snapshots.next()?.first)
        #expect(row.record.id == 1 && !row.hasLoaded(Fan.members) && row[Fan.members].count <= 1_000)
        #expect(try await calls(of: server) <= 1_100)
        await app.disconnect()
    }

    @Test("Related records without end are cut off, and the list is shown", arguments: Subject.ways)
    func endless(_ subject: Subject) async throws {
        let server = try await HostileServer("hostile lists", on: Adversary.backend)
        let app = try await app(subject, server)
        let live = app.service("notes", of: Fan.self).live().including(Fan.reactions)
        var snapshots = live.snapshots.makeAsyncIterator()
        let rows = try #require(try await snapshots.next())
        #expect(rows.count == 3 && !rows[0].hasLoaded(Fan.reactions))
        #expect(try await calls(of: server) <= 210)
        await app.disconnect()
    }

    /// The number of calls, two seconds from now.
    private func calls(of server: HostileServer) async throws -> Int {
        // Nothing happens until then, so that only the time is left to wait for.
        _ = try? await server.counters(open: 1000, timeoutMs: 2000)
        return try await server.counters().calls
    }

    @Test("Operators in a sorted property never get into a query", arguments: Subject.ways)
    func inject(_ subject: Subject) async throws {
        let server = try await HostileServer("hostile lists", on: Adversary.backend)
        let app = try await app(subject, server)
        let service = app.service("inject")
        await #expect {
            for try await _ in service.pages(.sorted(by: "name"), of: 2, keyedBy: "id") {}
        } throws: {
            "\($0)".contains("no string, number or Boolean in 'name'")
        }
        let live = service.live(.sorted(by: "name").limit(2))
        var snapshots = live.snapshots.makeAsyncIterator()
        #expect(try await snapshots.next()?.count == 2)
        await #expect(throws: FeathersError.self) { try await live.loadMore() }
        await #expect(throws: FeathersError.self) {
            for try await _ in service.live(.sorted(by: "name")).window(around: 2, of: 4).snapshots {}
        }
        let counters = try await server.counters()
        #expect(counters.smuggled == 0 && counters.calls >= 3)
        await app.disconnect()
    }

    @Test("Keyed pages that repeat end with an error", arguments: Subject.ways)
    func pages(_ subject: Subject) async throws {
        let server = try await HostileServer("hostile lists", on: Adversary.backend)
        let app = try await app(subject, server)
        await #expect(throws: FeathersError.self) {
            for try await _ in app.service("repeat").pages(.sorted(by: "name"), of: 2, keyedBy: "id") {}
        }
        #expect(try await server.counters().calls < 10)
        await app.disconnect()
    }
}
