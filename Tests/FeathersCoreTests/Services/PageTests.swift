import FeathersCore
import FeathersTesting
import Testing

@Suite("A result of find")
struct PageTests {
    struct Message: Codable, Equatable, Sendable {
        var id: Int
    }

    private func service(_ result: JSONValue) -> Service<JSONValue> {
        FeathersApp(transport: StubTransport { _ in result }).service("messages")
    }

    @Test("keeps whatever else the server sent with the page, for models and for JSON")
    func extra() async throws {
        let result: JSONValue = [
            "total": 40, "limit": 10, "skip": 20, "data": [["id": 1], ["id": 2]], "cursor": "x", "facets": ["a": 1],
        ]
        let json = try await service(result).find()
        #expect(json.data == [["id": 1], ["id": 2]])
        #expect((json.total, json.limit, json.skip) == (40, 10, 20))
        #expect(json.extra == ["cursor": "x", "facets": ["a": 1]])
        #expect(json.fraction == 0.75)
        let models = try await service(result).of(Message.self).find()
        #expect(
            models == Page(data: [Message(id: 1), Message(id: 2)], total: 40, limit: 10, skip: 20, extra: json.extra))
        for try await page in service(result).of(Message.self).pages(.limit(2), of: 2) {
            #expect(page.extra == json.extra && page.skip == 0)
        }
    }

    @Test("a total that is no number stays in the rest")
    func strangeTotal() async throws {
        let page = try await service(["total": "many", "data": []]).find()
        #expect(page.total == nil && page.extra == ["total": "many"])
    }

    @Test(
        "that is no list throws and says what it is, without its values",
        arguments: [
            (nil, "null"), (true, "a Boolean"), ("s3cret", "a string"), (7, "a number"),
            (.object([:]), "an empty object"),
            (["key": "s3cret"], "an object with 'key'"), (["data": ["s3cret": 1]], "an object with 'data'"),
            (["a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1], "an object with 'a', 'b', 'c', 'd', 'e' and others"),
        ] as [(JSONValue, String)])
    func noList(result: JSONValue, kind: String) async throws {
        for find in [
            { _ = try await self.service(result).find() },
            { _ = try await self.service(result).of(Message.self).find() },
        ] {
            await #expect { try await find() } throws: { error in
                "\(error)".contains("'find' returned \(kind), which is neither a list nor a page with 'data'")
                    && !"\(error)".contains("s3cret")
            }
        }
        let request = ServiceRequest(path: "messages", method: .find)
        #expect(try await service(result).respond(to: request).result == result)
    }

    @Test("of a service of one's own carries what else it returns")
    func own() async throws {
        actor Listing: TypedServiceProtocol {
            func find(_ params: Params) async throws -> Page<Message> {
                Page(data: [Message(id: 1)], total: 3, limit: 1, skip: 1, extra: ["next": "b", "total": "mine"])
            }
        }
        let page = try await FeathersApp().use(Listing(), at: "listing").find()
        #expect(page == Page(data: [Message(id: 1)], total: 3, limit: 1, skip: 1, extra: ["next": "b"]))
    }
}
