import FeathersCore
import FeathersTesting
import Testing

/// Servers that respond to a write with 204 or null.
@Suite("A write whose response contains no record")
struct BodylessWriteTests {
    struct Message: Codable, Identifiable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    private let transport = StubTransport()
    private let messages: Service<Message>

    init() {
        messages = FeathersApp(transport: transport).service("messages", of: Message.self)
        for method in [ServiceMethod.remove, .patch, .update] {
            transport.stub("messages", method, with: .value(.null))
        }
        transport.stub("messages", .get, with: .value(["id": 1, "text": "stored"]))
    }

    @Test("removes, and returns nil")
    func remove() async throws {
        #expect(try await messages.remove(1) == nil)
        #expect(try await messages.remove(Message(id: 1, text: "")) == nil)
        #expect(try await messages.json.remove(1) == nil)
        transport.stub("messages", .remove, with: .value(["id": 1, "text": "gone"]))
        #expect(try await messages.remove(1) == Message(id: 1, text: "gone"))
        #expect(try await messages.json.remove(1)?["text"] == "gone")
        #expect(transport.calls(of: "messages", .get).isEmpty)
    }

    @Test("changes, and returns the record as the server now has it")
    func change() async throws {
        let stored = Message(id: 1, text: "stored")
        #expect(try await messages.patch(1, with: ["text": "new"]) == stored)
        #expect(try await messages.update(stored) == stored)
        #expect(transport.requests.map(\.method) == [.patch, .get, .update, .get])
        #expect(transport.requests.compactMap(\.id) == [1, 1, 1, 1])
    }

    @Test("reads the record on behalf of the user who made the change")
    func token() async throws {
        var params = Params()
        params.token = "alice"
        #expect(try await messages.patch(1, with: ["text": "new"], params: params).text == "stored")
        #expect(transport.requests.map(\.method) == [.patch, .get])
    }

    @Test("reads the record without the conditions of the write, which it need not match any more")
    func query() async throws {
        let query = Query<Message>.where("text", "old").selecting("id", "text")
        try await messages.patch(1, with: ["text": "new"], query: query)
        #expect(transport.requests.last?.params.query.json == ["$select": ["id", "text"]])
    }

    @Test("throws an error that says that the change was made, if the record cannot be read")
    func unreadable() async throws {
        transport.stub("messages", .get, with: .error(FeathersError(.forbidden, "No reading")))
        let error = try await #require(throws: FeathersError.self) {
            try await messages.patch(1, with: ["text": "new"])
        }
        #expect(error.message.contains("'patch' on service 'messages' was executed"))
        #expect(error.message.contains("No reading") && error.execution == .answered)
    }

    @Test("that is JSON is what the server sent")
    func json() async throws {
        #expect(try await messages.json.patch(1, with: ["text": "new"]) == .null)
        #expect(transport.requests.count == 1)
    }

    @Test("is still an error where a record must exist")
    func creation() async throws {
        transport.stub("messages", .create, with: .value(.null))
        await #expect(throws: FeathersError.self) { try await messages.create(["text": "new"]) }
    }
}
