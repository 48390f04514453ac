import FeathersCore
import FeathersNetworking
import FeathersTesting
import Testing

@testable import FeathersSocketIO

@Suite("Packets of every form", .timeLimit(.minutes(10)))
struct PacketFormTests {
    private struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    @Test("become models and values, whatever their readers want")
    func readers() async throws {
        try await Scene().connected { scene, socket async throws in
            let app = FeathersApp(transport: scene.transport)
            let (messages, json) = (app.service("messages", of: Message.self), app.service("messages"))
            var models = messages.events(.created).makeAsyncIterator()
            var values = json.events(.created).makeAsyncIterator()
            for id in 1...2 { socket.deliver(#"42["messages created",{"id":\#(id),"text":"e\u0301"}]"#) }
            for id in 1...2 {
                #expect(await models.next() == Message(id: id, text: "e\u{301}"))
                #expect(await values.next() == ["id": .integer(Int64(id)), "text": "e\u{301}"])
            }
            async let result = messages.get(1)
            _ = try await socket.sent.next()
            socket.deliver(#"430[null,{"id":0,"id":1,"te\u0078t":"a"},{"more":true}]"#)
            #expect(try await result == Message(id: 1, text: "a"))
        }
    }

    @Test(
        "are events of services with a path before the last space",
        arguments: [
            (#"42["messages created",null]"#, "messages", "created", nil), (#"42["/ created",1]"#, "", "created", 1),
            (#"42["a b c",{"d":"e f"}]"#, "a b", "c", ["d": "e f"]),
            (#"42["messages created",{"id":1},{"more":1}]"#, "messages", "created", ["id": 1]),
            (#"42["messages cr\u0065ated",1]"#, "messages", "created", 1),
            (#"42[ "messages created" , 1 ]"#, "messages", "created", 1),
            (#"42["Ümlaut created","ß"]"#, "Ümlaut", "created", "ß"),
            (#"42["messages created"]"#, "messages", "created", nil),
        ] as [(String, String, String, JSONValue)])
    func events(packet: String, path: String, name: String, data: JSONValue) async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver(packet)
            #expect(try await scene.deliveries.next() == .event(path, name, data))
        }
    }

    @Test(
        "end the connection if they are not JSON",
        arguments: [
            #"42["messages created",{]"#, #"42["messages created",]"#, "42[\"a b\",\"\n\"]", "430[null,{}",
            "430[null,{}}]",
            "430[null,{},]",
            "430[null,{} 1]",
        ])
    func damaged(packet: String) async throws {
        try await Scene().connected { scene, socket async throws in
            async let call = scene.failure { try await scene.get(1) }
            _ = try await socket.sent.next()
            socket.deliver(packet)
            #expect(try await scene.diagnostics.next() == .protocolViolation)
            let error = await call
            #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
        }
    }

    @Test("between the parts of a binary packet end the connection")
    func insteadOfAttachment() async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver(#"451-["messages created",{"_placeholder":true,"num":0}]"#)
            socket.deliver(#"42["messages created",1]"#)
            #expect(try await scene.diagnostics.next() == .protocolViolation)
        }
    }
}
