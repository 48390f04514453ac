import FeathersCore
import FeathersREST
import FeathersSupport
import Foundation
import Testing

@Suite("Results that become models")
struct ModelResultTests {
    private struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    private static let page = #"{"total":2,"limit":10,"skip":0,"data":[{"id":1,"text":"a"},{"text":"b","id":2}]}"#

    private func url() throws -> URL { try #require(URL(string: "http://localhost")) }

    private func service(_ body: String, _ hooks: Hooks = Hooks(), status: Int = 200) async throws -> Service<Message> {
        let app = FeathersApp(transport: .rest(try url(), httpClient: SeamHTTPClient(status: status, body: body)))
        await app.service("messages").use(hooks: hooks)
        return app.service("messages", of: Message.self)
    }

    @Test("are what a hook makes of them")
    func hooksLook() async throws {
        let ids = Locked<[JSONValue?]>([])
        let messages = try await service(
            #"{"id":1,"text":"a"}"#,
            Hooks(after: [
                { context in ids.withLock { $0.append(context.result?["id"]) } },
                { context in context.result?["text"] = "changed" },
            ]))
        #expect(try await messages.get(1) == Message(id: 1, text: "changed"))
        #expect(ids.withLock { $0 } == [1])
    }

    @Test("are what an around hook makes of them")
    func aroundHooksLook() async throws {
        let ids = Locked<[JSONValue?]>([])
        let messages = try await service(
            #"{"id":1,"text":"a"}"#,
            Hooks(around: [
                { context, next in
                    try await next(&context)
                    ids.withLock { $0.append(context.result?["id"]) }
                    if context.id == 2 { context.result?["text"] = "changed" }
                }
            ]))
        #expect(try await messages.get(1) == Message(id: 1, text: "a"))
        #expect(try await messages.get(2) == Message(id: 1, text: "changed"))
        #expect(ids.withLock { $0 } == [1, 1])
    }

    @Test("become pages, lists and whatever else a method gives")
    func shapes() async throws {
        let paged = try await service(Self.page).find()
        #expect(
            paged == Page(data: [Message(id: 1, text: "a"), Message(id: 2, text: "b")], total: 2, limit: 10, skip: 0))
        let list = try await service(#"[{"id":1,"text":"a"}]"#)
        #expect(try await list.find() == Page(data: [Message(id: 1, text: "a")]))
        #expect(try await list.create(contentsOf: [Message(id: 1, text: "a")]) == [Message(id: 1, text: "a")])
        #expect(try await list.patchAll(query: Query(), with: ["text": "a"]) == [Message(id: 1, text: "a")])
        #expect(try await list.removeAll(query: Query()) == [Message(id: 1, text: "a")])
        let one = try await service(#"{"id":1,"text":"a"}"#)
        let message = Message(id: 1, text: "a")
        #expect(try await one.create(message) == message)
        #expect(try await one.update(1, with: message) == message)
        #expect(try await one.patch(1, with: ["text": "a"]) == message)
        #expect(try await one.remove(1) == message)
        #expect(try await one.call("echo", with: message, returning: JSONValue.self) == ["id": 1, "text": "a"])
        #expect(try await service("3").call("count", with: message, returning: Int.self) == 3)
    }

    @Test("keep repeated keys as JavaScript reads them")
    func repeatedKeys() async throws {
        #expect(try await service(#"{"id":1,"text":"a","id":2}"#).get(1) == Message(id: 2, text: "a"))
    }

    @Test("are inside their envelopes")
    func rootKeys() async throws {
        let app = FeathersApp(
            transport: .rest(try url(), httpClient: SeamHTTPClient(body: #"{"data":{"id":1,"text":"a"}}"#)))
        #expect(
            try await app.service("messages", of: Message.self, rootKeys: ["data"]).get(1) == Message(id: 1, text: "a"))
    }

    @Test(
        "fail with the service, the model and the place",
        arguments: [
            (#"{"id":1}"#, "The result of 'get' on service 'messages' cannot be decoded as Message: 'text' is missing"),
            (
                #"{"id":"1","text":"a"}"#,
                """
                The result of 'get' on service 'messages' cannot be decoded as Message: \
                expected Int but found a string at 'id'
                """
            ),
            ("", "Message"),
            ("{", "The server returned status 200 with a non-JSON body"),
        ])
    func failures(body: String, message: String) async throws {
        let error = await #expect(throws: FeathersError.self) { try await service(body).get(1) }
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test("name the place inside the record of a page")
    func placesInPages() async throws {
        let error = await #expect(throws: FeathersError.self) {
            try await service(#"{"data":[{"id":1,"text":"a"},{"id":2}]}"#).find()
        }
        let message =
            "Record at index 1 (id 2) of the result of 'find' on service 'messages' "
            + "cannot be decoded as Message: 'text' is missing"
        #expect(error?.message == message)
        await #expect(throws: FeathersError.self) { try await service(#"{"total":1}"#).find() }
    }

    @Test("are refused by the server as ever")
    func refusals() async throws {
        let messages = try await service(
            #"{"name":"NotFound","message":"No record","code":404,"className":"not-found"}"#, status: 404)
        let error = await #expect(throws: FeathersError.self) { try await messages.get(1) }
        #expect(error?.code == .notFound)
    }
}
