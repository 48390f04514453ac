import Feathers
import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersSync

/// A server without query schemas compares the text of a URL, such as `id[$in]=1`, with numbers, and finds nothing.
@MainActor
@Suite("Numbers that are sent as text", .timeLimit(.minutes(10)))
struct TextQueryTests {
    /// Sends queries to services as REST does.
    private struct TextTransport: Transport {
        let services: [String: MemoryService]
        let calls = Locked<[String]>([])

        func send(_ request: ServiceRequest) async throws -> ServiceResponse {
            calls.withLock { $0.append("\(request.method) \(request.path)\(request.id.map { "/\($0)" } ?? "")") }
            guard let service = services[request.path] else { throw FeathersError(.notFound, "No service") }
            var request = request
            for (name, value) in request.params.query.json where !name.hasPrefix("$") {
                request.params.query.json[name] = Self.text(value)
            }
            var response = try await service.respond(to: request)
            response[SentQueryAsText.self] = true
            return response
        }

        private static func text(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let object): .object(JSONObject(object.map { ($0.key, text($0.value)) }))
            case .array(let elements): .array(elements.map(text))
            case .string: value
            default: .string("\(value)")
            }
        }
    }

    private let transport = TextTransport(services: [
        "messages": MemoryService(records: [
            ["id": 1, "text": "a", "authorID": 1], ["id": 2, "text": "b", "authorID": 9], ["id": 3, "text": "c"],
        ]),
        "users": MemoryService(records: [["id": 1, "name": "Ada"], ["id": 2, "name": "Bob"]]),
    ])

    @Test("are found one by one by their ids, if none is found otherwise")
    func ids() async throws {
        let users = FeathersApp(transport: transport).service("users", of: User.self)
        #expect(try await users.find(ids: [2, 7, 1]).map(\.name) == ["Bob", "Ada"])
        let calls = transport.calls.withLock { $0 }
        #expect(calls.first == "find users")
        #expect(Set(calls.dropFirst()) == ["get users/2", "get users/7", "get users/1"])
    }

    @Test("are found beside texts, and where a text is a number's")
    func mixedIDs() async throws {
        let transport = TextTransport(services: [
            "mixed": MemoryService(records: [["id": 0, "name": "zero"], ["id": "text", "name": "text"]]),
            "texts": MemoryService(records: [["id": "7", "name": "seven"]]),
        ])
        let app = FeathersApp(transport: transport)
        let mixed = app.service("mixed")
        #expect(try await mixed.find(ids: [ServiceID(0), "text"]).map { $0["name"] } == ["zero", "text"])
        #expect(try await mixed.find(ids: ["0"]).map { $0["name"] } == ["zero"])
        #expect(try await mixed.find(ids: ["text", "other"]).map { $0["name"] } == ["text"])
        #expect(try await app.service("texts").find(ids: [7, 8]).map { $0["name"] } == ["seven"])
        // Only numbers, and only if none of them is found.
        let calls = transport.calls.withLock { $0 }
        #expect(
            calls == ["find mixed", "get mixed/0", "find mixed", "get mixed/0", "find mixed", "find texts"])
    }

    @Test("are the id at which a list begins")
    func anchor() async throws {
        let users = FeathersApp(transport: transport).service("users")
        let live = users.live(.sorted(by: "name")).window(around: 1, of: 4)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.contains { $0["name"] == "Bob" })
        await #expect {
            var missing = users.live(.sorted(by: "name")).window(around: 9, of: 4).snapshots.makeAsyncIterator()
            _ = try await missing.next()
        } throws: {
            FeathersError.Code.notFound ~= $0
        }
    }

    @Test(
        "are the values by which a list around a record is sorted", arguments: ["id", "n"], [1, 5, 9] as [Int64])
    func sortedAnchor(property: String, anchor: Int64) async throws {
        let transport = TextTransport(services: [
            "records": MemoryService(records: (1...9).map { ["id": .integer($0), "n": .integer(10 * $0)] })
        ])
        let records = FeathersApp(transport: transport).service("records")
        let live = records.live(.sorted(by: property)).window(around: anchor, of: 2)
        var snapshots = live.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await snapshots.next())
        let shown = snapshot.records.compactMap { $0["id"]?.integer }
        #expect(shown.contains(anchor) && shown == Array(shown[0]...shown[0] + Int64(shown.count) - 1))
        while try await live.loadMore() {}
        while try await live.loadMore(at: .start) {}
        try await live.refresh()
        var last = snapshot
        while last.count < 9 { last = try #require(try await snapshots.next()) }
        #expect(last.records.compactMap { $0["id"]?.integer } == Array(1...9))
    }

    @Test("are the keys of related records that are shown")
    func relations() async throws {
        let app = FeathersApp(transport: transport)
        let live = app.service("messages", of: Message.self).live(.sorted(by: "text")).including(Message.author)
        // On a busy machine, the rows may come first.
        for try await snapshot in live.snapshots where snapshot.allSatisfy({ $0.hasLoaded(Message.author) }) {
            #expect(snapshot.map { $0[Message.author]?.name } == ["Ada", nil, nil])
            break
        }
    }

    @Test("are the ids of drafts that follow their records")
    func drafts() async throws {
        let users = FeathersApp(transport: transport).service("users", of: User.self)
        let model = DraftModel(try await users.draft(2))
        let running = Task { await model.run() }
        try await users.patch(2, with: ["name": "Robert"])
        try await observed { model.value.name == "Robert" }
        #expect(!model.isRemoved && model.error == nil)
        running.cancel()
        await running.value
    }
}
