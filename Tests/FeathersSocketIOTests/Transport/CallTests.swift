import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("Calls over Socket.IO", .timeLimit(.minutes(10)))
struct CallTests {
    static let requests: [(ServiceRequest, String)] = [
        (ServiceRequest(path: "messages", method: .find), #"420["find","messages",{}]"#),
        (
            ServiceRequest(path: "messages", method: .get, id: 1, params: Params(query: ["a": 1])),
            #"420["get","messages",1,{"a":1}]"#
        ),
        (
            ServiceRequest(path: "messages", method: .create, data: ["text": "ü"]),
            #"420["create","messages",{"text":"ü"},{}]"#
        ),
        (ServiceRequest(path: "messages", method: .create), #"420["create","messages",null,{}]"#),
        (ServiceRequest(path: "messages", method: .update, id: "a", data: [:]), #"420["update","messages","a",{},{}]"#),
        (
            ServiceRequest(path: "messages", method: .patch, data: [:], params: Params(query: ["z": 1])),
            #"420["patch","messages",null,{},{"z":1}]"#
        ),
        (ServiceRequest(path: "messages", method: .remove), #"420["remove","messages",null,{}]"#),
        (
            ServiceRequest(path: "messages", method: "archive", data: ["id": 1]),
            #"420["archive","messages",{"id":1},{}]"#
        ),
        (
            ServiceRequest(path: "teams/:id/members/:id", method: .find, params: Params(route: ["id": "p q ü"])),
            #"420["find","teams/p q ü/members/p q ü",{}]"#
        ),
        (
            ServiceRequest(path: "teams/:id/members", method: .find, params: Params(route: ["id": "a@b.c?50%#+"])),
            #"420["find","teams/a@b.c?50%#+/members",{}]"#
        ),
    ]

    @Test("go over the wire as FeathersJS sends them", arguments: requests)
    func wire(request: ServiceRequest, frame: String) async throws {
        try await Scene().connected { scene, socket async throws in
            async let result = scene.transport.send(request)
            #expect(try await socket.sent.next() == frame)
            socket.deliver(#"430[null,{"ok":true}]"#)
            #expect(try await result.result == ["ok": true])
        }
    }

    @Test(
        "are refused before anything is sent where they cannot be written",
        arguments: [
            ServiceRequest(path: "m", method: .get), ServiceRequest(path: "a/:b", method: .find),
            ServiceRequest(path: "a/:b", method: .find, params: Params(route: ["b": ""])),
            ServiceRequest(path: "a/:b", method: .find, params: Params(route: ["b": ".."])),
            ServiceRequest(path: "a/:b", method: .find, params: Params(route: ["b": "x/y"])),
            ServiceRequest(path: "m", method: .create, data: .number(.nan)),
        ])
    func refused(request: ServiceRequest) async throws {
        try await Scene().connected { scene, socket async throws in
            let error = await scene.failure { try await scene.transport.send(request).result }
            #expect(error?.code == .badRequest && error?.execution == .neverSent)
            #expect(socket.sent.waiting.isEmpty)
        }
    }

    @Test("get their own answers, whatever their order")
    func outOfOrder() async throws {
        try await Scene().connected { scene, socket async throws in
            async let first = scene.get(1)
            _ = try await socket.sent.next()
            async let second = scene.get(2)
            _ = try await socket.sent.next()
            socket.deliver(#"431[null,"second"]"#, #"430[null,"first"]"#, #"430[null,"again"]"#, "439[]")
            #expect(try await first == "first")
            #expect(try await second == "second")
            #expect(try await scene.diagnostics.next() == .unknownAcknowledgement)
            #expect(try await scene.diagnostics.next() == .unknownAcknowledgement)
        }
    }

    @Test(
        "end with what the acknowledgement says",
        arguments: [
            ("[]", JSONValue.null), ("[null]", .null), ("[null,null]", .null), ("[null,0]", 0), ("[0,1]", 1),
            (#"["",2]"#, 2),
            ("[false,3]", 3),
        ])
    func results(ack: String, result: JSONValue) async throws {
        try await Scene().connected { scene, socket async throws in
            async let call = scene.get(1)
            _ = try await socket.sent.next()
            socket.deliver("430" + ack)
            #expect(try await call == result)
        }
    }

    @Test(
        "end with the server's errors",
        arguments: [
            (
                #"[{"name":"NotFound","message":"gone","code":404,"className":"not-found","data":{"a":1}}]"#, 404,
                "NotFound", "gone"
            ),
            (#"[{"message":"plain"}]"#, 500, "Error", "plain"), (#"["thrown"]"#, 500, "Error", "thrown"),
            (#"[{"name":"X","code":418,"message":"t"}]"#, 418, "X", "t"),
        ])
    func errors(ack: String, code: Int, name: String, message: String) async throws {
        try await Scene().connected { scene, socket async throws in
            async let call = scene.failure { try await scene.get(1) }
            _ = try await socket.sent.next()
            socket.deliver("430" + ack)
            let error = await call
            #expect(
                error?.code.rawValue == code && error?.name == name && error?.message == message
                    && error?.execution == .answered)
        }
    }

    @Test("leave nothing behind when they are cancelled, and the connection alone")
    func cancellation() async throws {
        try await Scene().connected { scene, socket async throws in
            let call = Task { try await scene.get(1) }
            _ = try await socket.sent.next()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(scene.transport.pendingCallCount == 0)
            socket.deliver("430[null,1]")
            #expect(try await scene.diagnostics.next() == .unknownAcknowledgement)
            async let next = scene.get(2)
            #expect(try await socket.sent.next() == #"421["get","m",2,{}]"#)
            socket.deliver("431[null,2]")
            #expect(try await next == 2)
        }
    }

    @Test("are not begun by a task that is cancelled already")
    func cancelledBefore() async throws {
        try await Scene().connected { scene, socket async throws in
            let call = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await scene.get(1)
            }
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(socket.sent.waiting.isEmpty)
        }
    }

    @Test("end at their deadline, which may have been too late for the server")
    func deadline() async throws {
        try await Scene().connected { scene, socket async throws in
            async let call = scene.failure { try await scene.get(1, Params(timeout: .seconds(3))) }
            async let other = scene.failure { try await scene.get(2) }
            _ = try await (socket.sent.next(), socket.sent.next())
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(3))
            let error = await call
            #expect(error?.code == .timeout && error?.execution == .mayHaveExecuted)
            #expect(scene.transport.pendingCallCount == 1)
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(7))
            #expect(await other?.code == .timeout)
        }
    }

    @Test("that are too large are refused before they are sent")
    func tooLarge() async throws {
        try await Scene().connected(maxPayload: 100) { scene, socket async throws in
            let request = ServiceRequest(path: "m", method: .create, data: .string(String(repeating: "x", count: 90)))
            let error = await scene.failure { try await scene.transport.send(request).result }
            #expect(error?.code == 413 && error?.execution == .neverSent)
            #expect(socket.sent.waiting.isEmpty && scene.transport.pendingCallCount == 0)
        }
        try await Scene { $0.maximumMessageSize = 50 }.connected { scene, _ async throws in
            let request = ServiceRequest(path: "m", method: .create, data: .string(String(repeating: "x", count: 90)))
            let error = await scene.failure { try await scene.transport.send(request).result }
            #expect(error?.code == 413 && error?.execution == .neverSent)
        }
    }

    @Test("fail where the connection takes no more")
    func queueFull() async throws {
        try await Scene().connected { scene, socket async throws in
            socket.failSending(with: WebSocketError(.queueFull, "full"))
            let error = await scene.failure { try await scene.get(1) }
            #expect(error?.code == .unavailable && error?.execution == .neverSent)
            #expect(scene.transport.pendingCallCount == 0)
        }
    }

    @Test("many at once each get their own answer")
    func concurrency() async throws {
        try await Scene().connected { scene, socket async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        let result = try await scene.get(ServiceID(number))
                        #expect(result == .integer(Int64(number)))
                    }
                }
                for _ in 0..<500 {
                    let frame = try await socket.sent.next()
                    let (packet, _) = try SocketPacketParser.parse(String(frame.dropFirst()))
                    let id = try #require(packet.id)
                    socket.deliver("43\(id)[null,\(packet.data?[2]?.description ?? "")]")
                }
                try await group.waitForAll()
            }
            #expect(scene.transport.pendingCallCount == 0)
        }
    }
}
