import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCore
@testable import FeathersSocketIO

@Suite("Large results over Socket.IO", .timeLimit(.minutes(10)))
struct ResultTextTests {
    private struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    private static let message = Message(id: 1, text: String(repeating: "Zürich ", count: 50))

    /// What a typed call gives for an answer, and whether its result was still a text after the call's hooks.
    private func get(answer: String, by hook: @escaping Hook = { _ in }) async throws -> (result: Result<Message, any Error>, wasText: Bool)
    {
        let wasText = Locked(false)
        let result = try await Scene().connected { scene, socket async throws in
            let app = FeathersApp(transport: scene.transport)
            let messages = app.service("messages", of: Message.self)
            await messages.use(
                hooks: Hooks(around: [
                    { context, next in
                        try await next(&context)
                        try await hook(&context)
                        if context.response?.isText == true { wasText.withLock { $0 = true } }
                    }
                ]))
            async let result = Self.outcome { try await messages.get(1) }
            _ = try await socket.sent.next()
            socket.deliver(answer)
            return await result
        }
        return (result, wasText.withLock { $0 })
    }

    private static func outcome(_ call: @Sendable () async throws -> Message) async -> Result<Message, any Error> {
        do { return .success(try await call()) } catch { return .failure(error) }
    }

    private static func json() throws -> String {
        String(decoding: try JSONValueEncoder().encode(message).serialized(), as: UTF8.self)
    }

    @Test("become models without a tree")
    func staysText() async throws {
        let (result, wasText) = try await get(answer: "430[null,\(Self.json())]")
        #expect(try result.get() == Self.message)
        #expect(wasText)
    }

    @Test("are trees for hooks that look")
    func hooksLook() async throws {
        let (result, wasText) = try await get(answer: "430[null,\(Self.json())]") { $0.result?["id"] = 2 }
        #expect(try result.get().id == 2)
        #expect(!wasText)
    }

    @Test(
        "are read as any other where a text does not do",
        arguments: ["{\"id\":0,\"id\":1,\"te\\u0078t\":", "{\"id\":1,\"id\":1,\"text\":", "{\"id\":1,\"\\u0074ext\":"])
    func oddObjects(start: String) async throws {
        let text = String(decoding: try JSONValue.string(Self.message.text).serialized(), as: UTF8.self)
        let (result, wasText) = try await get(answer: "430[null,\(start)\(text)}]")
        #expect(try result.get() == Self.message)
        #expect(!wasText)
    }

    @Test("come beside arguments that FeathersJS does not send")
    func moreArguments() async throws {
        let (result, wasText) = try await get(answer: "430[null,\(Self.json()),{\"more\":true}]")
        #expect(try result.get() == Self.message)
        #expect(!wasText)
    }

    @Test("end the connection where they are no JSON", arguments: ["", "}]", ",]", " 1]"])
    func damaged(end: String) async throws {
        let (result, _) = try await get(answer: "430[null,\(Self.json())\(end)")
        let error = #expect(throws: FeathersError.self) { try result.get() }
        #expect(error?.code == .unavailable)
    }

    @Test("of calls nobody waits for any more are reported, and nothing else")
    func unknown() async throws {
        try await Scene().connected { scene, socket async throws in
            let app = FeathersApp(transport: scene.transport)
            let messages = app.service("messages", of: Message.self)
            socket.deliver("437[null,\(try Self.json())]")
            #expect(try await scene.diagnostics.next() == .unknownAcknowledgement)
            async let result = messages.get(1)
            _ = try await socket.sent.next()
            socket.deliver("430[null,\(try Self.json())]")
            #expect(try await result == Self.message)
        }
    }

    @Test("of untyped calls are trees")
    func untyped() async throws {
        try await Scene().connected { scene, socket async throws in
            async let result = scene.get(1)
            _ = try await socket.sent.next()
            socket.deliver("430[null,\(try Self.json())]")
            #expect(try await result["id"] == 1)
        }
    }
}

@Suite("The usual packets")
struct ScannedPacketTests {
    private static func scan(_ packet: String, in namespace: String = "/") -> (scanned: ScannedPacket?, payload: String?) {
        var packet = packet
        return packet.withUTF8 { bytes in
            let scanned = ScannedPacket(bytes, namespace: namespace)
            switch scanned {
            case .event(_, let range), .result(_, let range): return (scanned, String(decoding: bytes[range], as: UTF8.self))
            case nil: return (nil, nil)
            }
        }
    }

    @Test("are results with the id before them", arguments: [("342[null,[1,2]]", "/"), ("3/chat,42[null,[1,2]]", "/chat")])
    func results(packet: String, namespace: String) {
        let (scanned, payload) = Self.scan(packet, in: namespace)
        guard case .result(let id, _) = scanned else { return #expect(Bool(false), "not a result") }
        #expect(id == 42)
        #expect(payload == "[1,2]")
    }

    @Test(
        "are events with a path before the last space",
        arguments: [(#"2["messages created",{"a":1}]"#, "/", 11), (#"2/chat,["users/:id/my notes x",{"a":1}]"#, "/chat", 27)])
    func events(packet: String, namespace: String, space: Int) {
        let (scanned, payload) = Self.scan(packet, in: namespace)
        guard case .event(let name, _) = scanned else { return #expect(Bool(false), "not an event") }
        #expect(name.space == space)
        #expect(payload == #"{"a":1}"#)
    }

    @Test(
        "are nothing else",
        arguments: [
            "", "2", "3", "3[null,1]", #"31[{"name":"F"}]"#, "31[0,1]", "31[null,1", "3/chat,1[null,1]", "399999999999999999999[null,1]",
            "61-1[null,1]", "31[null]F", #"2["created",1]"#, #"2[" created",1]"#, #"2["messages ",1]"#, #"2["messages created"]"#,
            #"21["messages created",1]"#, #"2["messages\u0020created x",1]"#, "2[\"messages\ncreated x\",1]", #"2["messages created",1"#,
            #"2[ "messages created",1]"#, #"2["messages created" ,1]"#, #"51-["messages created",1]"#, #"0{"sid":"s"}]"#,
        ])
    func others(packet: String) {
        #expect(Self.scan(packet).scanned == nil)
    }
}
