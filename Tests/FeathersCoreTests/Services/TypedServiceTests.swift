import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("Typed services")
struct TypedServiceTests {
    struct Message: Codable, Sendable, Equatable {
        var id: Int?
        var text: String
        var sentAt: Date?
    }

    static func messages(_ service: MemoryService = MemoryService()) async throws -> Service<Message> {
        let app = FeathersApp()
        try await app.use(service, at: "messages")
        return app.service("messages", of: Message.self)
    }

    @Test("Models go in and come out")
    func models() async throws {
        let messages = try await Self.messages()
        let date = Date(timeIntervalSince1970: 1_704_164_645.678)
        let created = try await messages.create(Message(text: "Hi", sentAt: date))
        #expect(created == Message(id: 0, text: "Hi", sentAt: date))
        #expect(try await messages.get(0) == created)
        #expect(try await messages.update(0, with: Message(text: "Ho")) == Message(id: 0, text: "Ho"))
        #expect(try await messages.remove(0)?.text == "Ho")
    }

    @Test("A patch is a dictionary, JSON, or any encodable value")
    func patches() async throws {
        struct Rename: Encodable { let text: String }
        let messages = try await Self.messages()
        try await messages.create(Message(text: "Hi"))
        #expect(try await messages.patch(0, with: ["text": "dictionary"]).text == "dictionary")
        #expect(try await messages.patch(0, with: ["text": "JSON", "n": 1, "none": nil]).text == "JSON")
        #expect(try await messages.patch(0, with: Rename(text: "struct")).text == "struct")
        #expect(try await messages.json.get(0)["n"] == 1)
    }

    @Test("A page has its totals, a list has none, and both are collections")
    func pages() async throws {
        let paginated = try await Self.messages(MemoryService(multi: .all, pagination: Pagination(default: 2, max: 5)))
        try await paginated.create(contentsOf: ["a", "b", "c"].map { Message(text: $0) })
        let page = try await paginated.find(.skip(1))
        #expect(page.map(\.text) == ["b", "c"])
        #expect((page.total, page.limit, page.skip) == (3, 2, 1))

        let list = try await Self.messages(MemoryService())
        try await list.create(Message(text: "a"))
        let all = try await list.find()
        #expect(all.count == 1)
        #expect(all.total == nil)
    }

    @Test("Multi operations give lists")
    func multi() async throws {
        let messages = try await Self.messages(MemoryService(multi: .all))
        try await messages.create(contentsOf: ["a", "b"].map { Message(text: $0) })
        #expect(try await messages.patchAll(query: .where("text", "a"), with: ["text": "z"]).map(\.text) == ["z"])
        #expect(try await messages.removeAll(query: Query()).count == 2)
    }

    @Test("create(contentsOf:) takes a list, and create refuses one before it is sent")
    func createLists() async throws {
        let messages = try await Self.messages(MemoryService(multi: .all))
        let created = try await messages.create(contentsOf: [Message(text: "a"), Message(text: "b")])
        #expect(created.map(\.text) == ["a", "b"])
        for refused in [JSONValue.array([["text": "c"]]), []] {
            await #expect {
                let _: Message = try await messages.create(refused)
            } throws: {
                let error = $0 as? FeathersError
                return error?.execution == .neverSent && error?.message.contains("create(contentsOf:)") == true
            }
        }
        #expect(try await messages.find().count == 2)
    }

    @Test("A result that is no such model says where, and nothing of what was there")
    func undecodable() async throws {
        let transport = StubTransport { _ in ["id": 1, "text": ["s3cret"]] }
        let messages = FeathersApp(transport: transport).service("messages", of: Message.self)
        await #expect {
            try await messages.get(1)
        } throws: { error in
            let text = "\(error)"
            return text.contains("service 'messages' cannot be decoded as Message") && text.contains("'text'")
                && !text.contains("s3cret")
        }
    }

    @Test("Events arrive as models, and what is none arrives as a gap")
    func events() async throws {
        let messages = try await Self.messages()
        let events = messages.events(.created)
        var deliveries = messages.deliveries().makeAsyncIterator()
        messages.json.emit(.created, ["nonsense": true])
        try await messages.create(Message(text: "Hi"))
        guard case .gap(let gap)? = await deliveries.next(), case .undecodable(let event, _) = gap.reason else {
            Issue.record("what does not decode is a gap")
            return
        }
        #expect(event.data == ["nonsense": true])
        #expect(try await events.first().text == "Hi")
    }

    @Test("A custom method decodes into what its caller names")
    func customMethods() async throws {
        let transport = StubTransport { request in ["count": .integer(Int64(request.data?["ids"]?.array?.count ?? -1))]
        }
        let messages = FeathersApp(transport: transport).service("messages", of: Message.self)
        let counts = try await messages.call("archive", with: ["ids": [1, 2, 3]], returning: [String: Int].self)
        #expect(counts == ["count": 3])
    }
}
