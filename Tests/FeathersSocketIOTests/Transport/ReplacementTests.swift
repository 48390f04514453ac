import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

/// A connection that ends with its user.
@Suite(.timeLimit(.minutes(10)))
struct ReplacementTests {
    private func sendLogOut(_ scene: Scene) async throws -> JSONValue {
        var params = Params()
        (params.concernsConnection, params.endsConnection, params.isVolatile) = (true, true, true)
        return try await scene.transport.send(ServiceRequest(path: "authentication", method: .remove, params: params))
            .result
    }

    @Test func `A retired connection carries only the log-out, and the next one opens without a delay`() async throws {
        let scene = try Scene()
        try await scene.connected { scene, socket in
            #expect(scene.transport.retireConnection())
            #expect(scene.transport.status == .connecting(attempt: 1))
            let call = await scene.start { try await scene.get(1) }
            let signIn = await scene.start {
                var params = Params()
                params.concernsConnection = true
                return try await scene.transport.send(
                    ServiceRequest(path: "authentication", method: .create, data: [:], params: params)
                ).result
            }
            #expect(socket.sent.waiting.isEmpty && scene.transport.load.waiting == 2)
            let logOut = await scene.start { try await sendLogOut(scene) }
            #expect(try await socket.sent.next() == #"422["remove","authentication",null,{}]"#)
            socket.deliver("432[null,{}]")
            _ = try await logOut.value
            scene.transport.replaceConnection()
            #expect(try await socket.sent.next() == "41")
            socket.cut()
            let next = try await scene.sockets.opened.next()
            try await next.accept()
            #expect(try await next.sent.next() == #"421["create","authentication",{},{}]"#)
            #expect(try await next.sent.next() == #"420["get","m",1,{}]"#)
            next.deliver("431[null,1]", "430[null,2]")
            #expect(try await (signIn.value, call.value) == (1, 2))
            #expect(scene.deliveries.waiting == [.gap])
        }
    }

    @Test(arguments: [true, false])
    func `The session of a user who has left is not recovered`(isConnected: Bool) async throws {
        let scene = try Scene()
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        socket.open()
        #expect(try await socket.sent.next() == "40")
        socket.deliver(#"40{"sid":"s","pid":"alice's"}"#)
        try await connecting
        if isConnected {
            #expect(scene.transport.retireConnection())
            scene.transport.replaceConnection()
            #expect(try await socket.sent.next() == "41")
        } else {
            socket.cut()
            await scene.status { if case .waiting = $0 { true } else { false } }
            #expect(!scene.transport.retireConnection())
            scene.transport.retryNow()
        }
        let next = try await scene.sockets.opened.next()
        next.open()
        #expect(try await next.sent.next() == "40")
        next.deliver(#"40{"sid":"t","pid":"no one's"}"#)
        await scene.status { $0 == .connected(recovered: false) }
        await scene.transport.disconnect()
    }

    @Test func `Only a retired connection is replaced, and its calls end with it`() async throws {
        let scene = try Scene()
        try await scene.connected { scene, socket in
            scene.transport.replaceConnection()
            let call = await scene.start { await scene.failure { try await scene.get(1) } }
            _ = try await socket.sent.next()
            #expect(scene.transport.retireConnection())
            scene.transport.replaceConnection()
            #expect(try await call.value?.execution == .mayHaveExecuted)
            socket.deliver(#"42["m created",{"id":1}]"#)
            #expect(scene.deliveries.waiting.isEmpty)
            socket.cut()
            let next = try await scene.sockets.opened.next()
            try await next.accept()
            await scene.status { $0 == .connected(recovered: false) }
        }
    }

    @Test func `A connection that is retired while it opens is never open for calls`() async throws {
        let scene = try Scene()
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        socket.open()
        #expect(try await socket.sent.next() == "40")
        #expect(scene.transport.retireConnection())
        let call = await scene.start { try await scene.get(1) }
        socket.deliver(#"40{"sid":"s"}"#)
        await scene.settled()
        #expect(socket.sent.waiting.isEmpty)
        scene.transport.replaceConnection()
        #expect(try await socket.sent.next() == "41")
        socket.cut()
        await scene.status { if case .waiting = $0 { true } else { false } }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(1))
        let next = try await scene.sockets.opened.next()
        try await next.accept()
        #expect(try await next.sent.next() == #"420["get","m",1,{}]"#)
        next.deliver("430[null,1]")
        #expect(try await call.value == 1)
        try await connecting
        await scene.transport.disconnect()
    }
}
