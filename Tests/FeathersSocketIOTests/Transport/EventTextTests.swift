import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCore
@testable import FeathersSocketIO

@Suite("Events from their bytes", .timeLimit(.minutes(10)))
struct EventTextTests {
    private struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    private static func event(_ id: Int, _ text: String = "Zürich") -> String { #"42["messages created",{"id":\#(id),"text":"\#(text)"}]"# }

    @Test("become models and trees in order, whatever their readers want")
    func mixedReaders() async throws {
        try await Scene().connected { scene, socket async throws in
            let app = FeathersApp(transport: scene.transport)
            let (typed, untyped) = (app.service("messages", of: Message.self), app.service("messages"))
            var models = typed.events(.created).makeAsyncIterator()
            // The first event finds out that all readers decode, so the second one stays text.
            socket.deliver(Self.event(1))
            socket.deliver(Self.event(2))
            var trees: AsyncStream<JSONValue>.AsyncIterator? = untyped.events(.created).makeAsyncIterator()
            socket.deliver(Self.event(3))
            socket.deliver(Self.event(4))
            for id in 1...4 { #expect(await models.next() == Message(id: id, text: "Zürich")) }
            for id in 3...4 {
                let record = await trees?.next()
                #expect(record == ["id": .integer(Int64(id)), "text": "Zürich"])
            }
            trees = nil
            socket.deliver(Self.event(5, "e\\u0301"))
            socket.deliver(Self.event(6, "e\\u0301"))
            #expect(await models.next() == Message(id: 5, text: "e\u{301}"))
            #expect(await models.next() == Message(id: 6, text: "e\u{301}"))
        }
    }

    @Test(
        "of every usual form are those of the general parser",
        arguments: [
            #"42["messages created",null]"#, #"42["messages created",[1,[2]]]"#, #"42["/ created",1]"#, #"42["a b c",{"d":"e f"}]"#,
            #"42["messages created",{"id":1},{"more":1}]"#, #"42["messages cr\u0065ated",1]"#, #"42[ "messages created" , 1 ]"#,
            #"42["Ümlaut created","ß"]"#, #"42["messages created"]"#,
        ])
    func sameAsGeneral(packet: String) async throws {
        func read(_ packet: String, observed: Bool) async throws -> Scene.Delivery {
            try await Scene().connected { scene, socket async throws in
                // Observers see the whole packet, so it is parsed as any other.
                let observer = observed ? scene.transport.events() : nil
                socket.deliver(packet)
                defer { withExtendedLifetime(observer) {} }
                return try await scene.deliveries.next()
            }
        }
        #expect(try await read(packet, observed: false) == read(packet, observed: true))
    }

    @Test(
        "end the connection if they are not JSON",
        arguments: [#"42["messages created",{]"#, #"42["messages created",]"#, "42[\"a b\",\"\n\"]"])
    func damaged(packet: String) async throws {
        try await Scene().connected { scene, socket async throws in
            let readers = FeathersApp(transport: scene.transport).service("messages", of: Message.self).events(.created)
            socket.deliver(packet)
            #expect(try await scene.diagnostics.next() == .protocolViolation)
            withExtendedLifetime(readers) {}
        }
    }

    @Test("between the parts of a binary packet end the connection")
    func insteadOfAttachment() async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver(#"451-["messages created",{"_placeholder":true,"num":0}]"#)
            socket.deliver(Self.event(1))
            #expect(try await scene.diagnostics.next() == .protocolViolation)
        }
    }

    @Test("of a session that can be recovered carry their offsets")
    func recoverable() async throws {
        try await Scene { $0.recoversState = true }.connected { scene, socket async throws in
            socket.deliver(#"42["messages created",{"id":1},"offset1"]"#)
            #expect(try await scene.deliveries.next() == .event("messages", "created", ["id": 1]))
        }
    }

    @Test("of more names than a connection remembers arrive")
    func manyNames() async throws {
        try await Scene().connected { scene, socket async throws in
            for number in 0..<200 {
                socket.deliver(#"42["s\#(number) created",\#(number)]"#)
                #expect(try await scene.deliveries.next() == .event("s\(number)", "created", .integer(Int64(number))))
            }
        }
    }
}
