import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("Reading records by their ids")
struct FindByIDsTests {
    struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String?
    }

    private let transport: StubTransport
    private let app: FeathersApp

    /// A server with 500 messages, whose pages have at most `max` records.
    init() async throws {
        try await self.init(max: 1000)
    }

    init(max: Int) async throws {
        let stored = MemoryService(startID: 0, multi: .all, pagination: Pagination(default: 10, max: max))
        let records = (0..<500).map { JSONValue.object(["text": .string("\($0)")]) }
        _ = try await stored.create(.array(records), Params())
        transport = StubTransport(services: ["messages": stored])
        app = FeathersApp(transport: transport)
    }

    private var messages: Service<Message> { app.service("messages", of: Message.self) }

    /// The number of ids in each request.
    private var sizes: [Int] {
        transport.requests.map { $0.params.query.json["id"]?["$in"]?.array?.count ?? 0 }
    }

    @Test("returns them in the order of the ids, each once, without those that do not exist")
    func order() async throws {
        let found = try await messages.find(ids: [7, 499, 3, 7, 1000, 0])
        #expect(found.map(\.id) == [7, 499, 3, 0])
        #expect(found.map(\.text) == ["7", "499", "3", "0"])
        #expect(sizes == [5])
        #expect(transport.requests.first?.params.query.json["$limit"] == 5)
        #expect(try await messages.find(ids: [Int]()).isEmpty && sizes == [5])
    }

    @Test("sends at most 50 ids in a request, and fewer if they are long, so that a URL stays short")
    func chunks() async throws {
        let ids = Array((0..<120).reversed())
        #expect(try await messages.find(ids: ids).map(\.id) == ids)
        #expect(sizes.reduce(0, +) == 120 && sizes.allSatisfy { $0 <= 50 })
        transport.stub("messages", .find, with: .value([]))
        let long = (0..<20).map { String(repeating: "ä", count: 100) + "\($0)" }
        #expect(try await messages.find(ids: long).isEmpty)
        let lengths = try transport.requests.suffix(10).map { try $0.params.query.queryString().utf8.count }
        #expect(lengths.allSatisfy { $0 < 2000 })
    }

    @Test("asks again for what a server with smaller pages left out")
    func smallPages() async throws {
        let small = try await FindByIDsTests(max: 4)
        #expect(try await small.messages.find(ids: 0..<10).map(\.id) == Array(0..<10))
        #expect(small.sizes == [10, 6, 2])
    }

    @Test("applies the conditions and the selection of the query, but not its order or its limit")
    func query() async throws {
        let query = Query<Message>.where("text", .notEquals("2")).selecting("text").sorted(by: "text", .descending)
            .limit(1)
        let found = try await messages.find(ids: 1...3, query: query)
        #expect(found.map(\.id) == [1, 3] && found.map(\.text) == ["1", "3"])
    }

    @Test("takes a number and its text for the same id, as a URL does")
    func texts() async throws {
        #expect(try await messages.find(ids: [ServiceID(3), ServiceID("3")]).map(\.id) == [3])
        transport.stub("messages", .find, with: .value([["id": "3", "text": "three"]]))
        #expect(try await app.service("messages").find(ids: [3]).first?["text"] == "three")
    }

    @Test("uses the property that holds the service's ids")
    func property() async throws {
        let stored = MemoryService(id: "_id")
        for id in ["a", "b"] { _ = try await stored.create(["_id": .string(id)], Params()) }
        try await app.use(stored, at: "users")
        let users = app.service("users")
        #expect(try await users.find(ids: ["b", "a"]).compactMap { $0["_id"]?.string } == ["b", "a"])
    }

    @Test("names the record that cannot be decoded, or leaves it out if the params say so")
    func undecodable() async throws {
        transport.stub("messages", .find, with: .value([["id": 1], ["id": 2, "text": 2]]))
        let error = await #expect(throws: FeathersError.self) { try await messages.find(ids: [1, 2]) }
        #expect(error?.message.contains("(id 2)") == true && error?.message.contains("'text'") == true)
        var params = Params()
        params.skipsUndecodableRecords = true
        #expect(try await messages.find(ids: [1, 2], params: params) == [Message(id: 1)])
    }

    @Test("refuses an id that cannot be sent, before anything is sent")
    func refused() async throws {
        await #expect(throws: FeathersError.self) { try await messages.find(ids: [1, nil]) }
        #expect(transport.requests.isEmpty)
    }
}
