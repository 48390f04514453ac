import FeathersCore
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("Events over Socket.IO", .timeLimit(.minutes(10)))
struct EventTests {
    static let names: [(String, String, String)] = [
        ("messages created", "messages", "created"),
        ("teams/:teamId/members patched", "teams/:teamId/members", "patched"),
        ("/ removed", "", "removed"),
        ("a b typing", "a b", "typing"),
    ]

    @Test("are named by path and event, divided at the last space", arguments: names)
    func named(name: String, path: String, event: String) async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver(#"42["\#(name)",{"id":1},"more"]"#)
            #expect(try await scene.deliveries.next() == .event(path, event, ["id": 1]))
        }
    }

    @Test("of a path with placeholders reach the services of the paths that it matches")
    func template() async throws {
        try await Scene().connected { scene, socket async throws in
            let app = FeathersApp(transport: scene.transport)
            var (red, other) = (
                app.service("teams/red/members").events(["created"]).makeAsyncIterator(),
                app.service("teams/red/guests").events(["created"]).makeAsyncIterator()
            )
            socket.deliver(
                #"42["teams/:team/members created",{"id":1}]"#, #"42["teams/red/guests created",{"id":2}]"#)
            let event = ServiceEvent(path: "teams/:team/members", name: .created, data: ["id": 1])
            #expect(await red.next() == event)
            #expect(await other.next()?.data == ["id": 2])
        }
    }

    @Test("come before the answer to the call that caused them")
    func beforeAck() async throws {
        try await Scene().connected { scene, socket async throws in
            async let call = scene.get(1)
            _ = try await socket.sent.next()
            socket.deliver(#"42["m created",1]"#, #"42["m created",2]"#, "430[null,3]")
            _ = try await call
            #expect(scene.deliveries.waiting == [.event("m", "created", 1), .event("m", "created", 2)])
        }
    }

    @Test(
        "that are no service's go to whoever observes, else to the diagnostics",
        arguments: ["hello", " created", "messages ", " "])
    func unknown(name: String) async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver(#"42["\#(name)",1]"#)
            #expect(try await scene.diagnostics.next() == .unknownEvent)
            let events = scene.transport.events()
            socket.deliver(#"42["\#(name)",2,"x"]"#, #"42["m created"]"#, "42[7]")
            var seen: [String] = []
            for await event in events {
                seen.append("\(event.name) \(event.arguments)")
                if seen.count == 3 { break }
            }
            #expect(seen == ["\(name) [2, \"x\"]", "m created []", "7 []"])
            #expect(scene.diagnostics.waiting.isEmpty)
        }
    }

    @Test("wait for an observer with 16 MiB at the most, the newest of them")
    func largeUnread() async throws {
        try await Scene().connected { scene, socket async throws in
            let events = scene.transport.events()
            let text = String(repeating: "x", count: 7 << 20)
            for number in 1...4 { socket.deliver(#"42["large",\#(number),"\#(text)"]"#) }
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next()?.arguments.first == 3)
            #expect(await iterator.next()?.arguments.first == 4)
        }
    }

    @Test("know how many bytes they came in, their attachments included")
    func weight() async throws {
        try await Scene().connected { scene, socket async throws in
            let weights = Mailbox<Int>()
            scene.transport.deliver(
                to: EventSink {
                    weights.put($0.weight)
                } onGap: { _ in
                })
            let text = #"["m created","\#(String(repeating: "x", count: 1000))"]"#
            socket.deliver("42" + text)
            #expect(try await weights.next() == text.utf8.count + 1)
            let placeholder = #"["m created",{"_placeholder":true,"num":0}]"#
            socket.deliver("451-" + placeholder)
            socket.deliver([UInt8](repeating: 0, count: 500))
            #expect(try await weights.next() == placeholder.utf8.count + 3 + 500)
        }
    }

    @Test("are answered once where the server asks for it")
    func acknowledged() async throws {
        try await Scene().connected { scene, socket async throws in
            let events = scene.transport.events()
            socket.deliver(#"4212["ask",1]"#, #"42["tell"]"#)
            var iterator = events.makeAsyncIterator()
            let asked = await iterator.next()
            asked?.acknowledgement?("yes", 2)
            asked?.acknowledgement?("no")
            #expect(try await socket.sent.next() == #"4312["yes",2]"#)
            #expect(await iterator.next()?.acknowledgement == nil)
            #expect(socket.sent.waiting.isEmpty)
        }
    }

    @Test("with bytes carry them as base64")
    func binary() async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver(#"451-["files created",{"name":"a","bytes":{"_placeholder":true,"num":0}}]"#)
            socket.deliver([1, 2, 3])
            #expect(try await scene.deliveries.next() == .event("files", "created", ["name": "a", "bytes": "AQID"]))
        }
    }

    @Test("that come with a recovered session follow without a gap")
    func recovered() async throws {
        let scene = try Scene { $0.recoversState = true }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept(pid: "p")
        try await connecting
        socket.deliver(#"42["m created",1,"o1"]"#)
        socket.cut()
        await scene.status { if case .waiting = $0 { true } else { false } }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(1))
        let next = try await scene.sockets.opened.next()
        #expect(try await next.accept(pid: "p") == #"40{"pid":"p","offset":"o1"}"#)
        await scene.status { $0 == .connected(recovered: true) }
        next.deliver(#"42["m created",2,"o2"]"#)
        #expect(try await scene.deliveries.next() == .event("m", "created", 1))
        #expect(try await scene.deliveries.next() == .event("m", "created", 2))
        await scene.transport.disconnect()
    }

    @Test("that were missed are a gap where nobody asked for recovery, though the server offers it")
    func notRecovered() async throws {
        let scene = try Scene()
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept(pid: "p")
        try await connecting
        socket.deliver(#"42["m created",1,"o1"]"#)
        socket.cut()
        await scene.status { if case .waiting = $0 { true } else { false } }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(1))
        let next = try await scene.sockets.opened.next()
        #expect(try await next.accept(pid: "p2") == "40")
        await scene.status { $0 == .connected(recovered: false) }
        #expect(try await scene.deliveries.next() == .event("m", "created", 1))
        #expect(try await scene.deliveries.next() == .gap)
        await scene.transport.disconnect()
    }

    @Test("that come before the answer to CONNECT are delivered after it, and after the gap")
    func early() async throws {
        try await Scene().connected { scene, socket async throws in
            socket.cut()
            await scene.status { if case .waiting = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            let next = try await scene.sockets.opened.next()
            next.open()
            _ = try await next.sent.next()
            next.deliver(#"42["m created",1]"#)
            #expect(scene.deliveries.waiting.isEmpty)
            next.deliver(#"40{"sid":"s"}"#)
            #expect(try await scene.deliveries.next() == .gap)
            #expect(try await scene.deliveries.next() == .event("m", "created", 1))
        }
    }

    @Test(
        "that break the protocol end the connection and are reported, and it comes back",
        arguments: [
            "42[]", #"42["connect"]"#, "4x", "9", "", "43[]", "40[]",
        ])
    func violations(frame: String) async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver(frame)
            #expect(try await socket.sent.next() == "close 1000")
            await scene.status { if case .waiting = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            try await scene.sockets.opened.next().accept()
            #expect(try await scene.deliveries.next() == .gap)
        }
    }
}
