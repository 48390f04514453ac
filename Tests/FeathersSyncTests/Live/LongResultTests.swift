import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A long live result", .timeLimit(.minutes(10)))
struct LongResultTests {
    private struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    @Test("follows events like a short one")
    func events() async throws {
        let count = 20_001
        let app = FeathersApp()
        let records = (0..<count).map {
            ["id": .integer(Int64($0)), "text": .string("the text of record \($0)")] as JSONObject
        }
        try await app.use(MemoryService(multi: .all, records: records), at: "messages")
        let messages = app.service("messages", of: Message.self)
        var live = messages.live(.sorted(by: "id")).snapshots.makeAsyncIterator()

        let fetched = try #require(try await live.next()).records
        for index in [0, count / 2, count - 1] {
            #expect(fetched[index] == Message(id: index, text: "the text of record \(index)"))
        }
        try await messages.patch(7, with: ["text": "changed"])
        let changed = try #require(try await live.next()).records
        #expect(changed.count == count && changed[7].text == "changed" && changed[8] == fetched[8])
        try await messages.remove(0)
        let shorter = try #require(try await live.next()).records
        #expect(shorter.count == count - 1 && shorter[6].text == "changed" && shorter.last == fetched.last)
    }

    @Test(
        "leaves out what cannot be decoded anywhere in it, unless the app says otherwise",
        arguments: [true, false])
    func undecodable(isSkipped: Bool) async throws {
        let app = FeathersApp()
        let records = (0..<1_000).map {
            ["id": .integer(Int64($0)), "text": $0 % 100 == 7 ? .null : "a text"] as JSONObject
        }
        try await app.use(MemoryService(multi: .all, records: records), at: "messages")
        let messages = app.service("messages", of: Message.self)
        app.requiresDecodableRecords = !isSkipped
        var live = messages.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
        guard isSkipped else {
            await #expect(throws: FeathersError.self) { try await live.next() }
            return
        }
        #expect(try await live.next()?.records.map(\.id) == (0..<1_000).filter { $0 % 100 != 7 })
        try await messages.json.patch(907, with: ["text": "a text"])
        #expect(try await live.next()?.records.map(\.id) == (0..<1_000).filter { $0 % 100 != 7 || $0 == 907 })
    }

    /// A record that tells when it is decoded.
    private struct Observed: Codable, Sendable {
        @TaskLocal static var decoded: @Sendable (Int) -> Void = { _ in }
        var id: Int

        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            Self.decoded(id)
        }
    }

    /// Returns a long result once, then a short one.
    private actor LongOnce: ServiceProtocol {
        private var count = 1_000

        func find(_ params: Params) async throws -> JSONValue {
            defer { count = 3 }
            return .array((0..<count).map { ["id": .integer(Int64($0))] })
        }
    }

    @Test("is not shown to a user who signs in while it is being decoded")
    func signIn() async throws {
        let app = FeathersApp()
        app.setIdentity(Identity("alice"))
        try await app.use(LongOnce(), at: "records")
        try await Observed.$decoded.withValue({ if $0 == 700 { app.setIdentity(Identity("bob")) } }) {
            var live = app.service("records", of: Observed.self).live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            let first = try await live.next()
            #expect(first?.records.map(\.id) == [0, 1, 2])
        }
    }

    @Test("from disk is not shown to a user who signs in while it is being decoded")
    func keptAndSignIn() async throws {
        let folder = try OutboxFolder()
        let place = folder.url.appending(path: "store", directoryHint: .isDirectory)
        let records = LongOnce()
        func opened() async throws -> (app: FeathersApp, records: Service<Observed>) {
            let app = FeathersApp()
            app.setIdentity(Identity("alice"))
            try await app.use(localStore: .directory(place))
            try await app.use(records, at: "records")
            return (app, app.service("records", of: Observed.self))
        }
        let (first, long) = try await opened()
        try await withFeathersApp(first) { _ in
            for try await snapshot in long.live(.sorted(by: "id")).snapshots where snapshot.records.count == 1_000 {
                break
            }
        }
        await first.outbox?.close()

        let (second, kept) = try await opened()
        let decoded = Locked(0)
        let signIn: @Sendable (Int) -> Void = { id in
            decoded.withLock { $0 = max($0, id) }
            if id == 150 { second.setIdentity(Identity("bob")) }
        }
        try await Observed.$decoded.withValue(signIn) {
            var live = kept.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            let shown = try await live.next()
            #expect(shown?.source == .server && shown?.records.map(\.id) == [0, 1, 2])
        }
        // What was decoded first was the kept result.
        #expect(decoded.withLock(\.self) >= 150)
        await second.outbox?.close()
    }
}
