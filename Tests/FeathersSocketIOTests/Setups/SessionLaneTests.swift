import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("Calls that sign the connection in or out", .timeLimit(.minutes(10)))
struct SessionLaneTests {
    /// A scene whose connection is prepared once the promise is settled.
    private func preparing(
        _ release: Promise<Void>, _ configure: (inout SocketIOTransport.Options) -> Void = { _ in }
    ) throws -> (scene: Scene, begun: Promise<Void>) {
        let scene = try Scene(configure)
        let begun = Promise<Void>()
        scene.transport.use(
            connectionSetup: ConnectionSetup(prepare: { _ in
                begun.resolve(())
                try? await release.value()
            }))
        return (scene, begun)
    }

    private func signIn(_ data: JSONValue, _ scene: Scene, timeout: Duration? = nil) async throws -> JSONValue {
        var params = Params(timeout: timeout)
        params.concernsConnection = true
        return try await scene.transport.send(
            ServiceRequest(path: "authentication", method: .create, data: data, params: params)
        ).result
    }

    @Test(
        "go out while the connection is prepared, ahead of calls that were made before; those wait until it is prepared"
    )
    func order() async throws {
        let release = Promise<Void>()
        let (scene, begun) = try preparing(release)
        let first = await scene.start { try await scene.get(1) }
        let early = await scene.start { try await signIn("early", scene) }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        #expect(try await socket.sent.next() == #"421["create","authentication","early",{}]"#)
        try await begun.value()
        let second = await scene.start { try await scene.get(2) }
        let late = await scene.start { try await signIn("late", scene) }
        #expect(try await socket.sent.next() == #"423["create","authentication","late",{}]"#)
        socket.deliver(#"431[null,"a"]"#, #"433[null,"b"]"#)
        #expect(try await (early.value, late.value) == ("a", "b"))
        #expect(socket.sent.waiting.isEmpty && scene.transport.load.waiting == 2)
        #expect(scene.transport.status == .connecting(attempt: 1))
        release.resolve(())
        #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
        #expect(try await socket.sent.next() == #"422["get","m",2,{}]"#)
        socket.deliver("430[null,1]", "432[null,2]")
        #expect(try await (first.value, second.value) == (1, 2))
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("can be awaited by what prepares the connection")
    func awaitedByPreparation() async throws {
        let scene = try Scene()
        let results = Mailbox<JSONValue?>()
        scene.transport.use(
            connectionSetup: ConnectionSetup(prepare: { [weak scene] _ in
                guard let scene else { return }
                results.put(try? await signIn("x", scene))
            }))
        let waiting = await scene.start { try await scene.get(1) }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        #expect(try await socket.sent.next() == #"421["create","authentication","x",{}]"#)
        socket.deliver(#"431[null,"in"]"#)
        #expect(try await results.next() == "in")
        #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
        socket.deliver("430[null,1]")
        #expect(try await waiting.value == 1)
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("wait until the server has accepted the namespace")
    func beforeJoining() async throws {
        let scene = try Scene()
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        socket.open()
        #expect(try await socket.sent.next() == "40")
        let call = await scene.start { try await signIn("x", scene) }
        #expect(socket.sent.waiting.isEmpty && scene.transport.load.waiting == 1)
        socket.deliver(#"40{"sid":"s"}"#)
        #expect(try await socket.sent.next() == #"420["create","authentication","x",{}]"#)
        socket.deliver("430[null,1]")
        #expect(try await call.value == 1)
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("fail with a lost connection once they were sent, and wait for the next before that")
    func lost() async throws {
        let release = Promise<Void>()
        let (scene, begun) = try preparing(release)
        let running = Task { try await scene.transport.run() }
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        try await begun.value()
        let sent = await scene.start { try await signIn("sent", scene) }
        _ = try await socket.sent.next()
        socket.failSending(with: WebSocketError(.closed, "closed"))
        let kept = await scene.start { try await signIn("kept", scene) }
        let ordinary = await scene.start { try await scene.get(1) }
        socket.cut()
        let error = await scene.failure { try await sent.value }
        #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
        await scene.status { if case .waiting(attempt: 1, _, _) = $0 { true } else { false } }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(1))
        let next = try await scene.sockets.opened.next()
        try await next.accept()
        #expect(try await next.sent.next() == #"421["create","authentication","kept",{}]"#)
        next.deliver("431[null,1]")
        #expect(try await kept.value == 1)
        #expect(next.sent.waiting.isEmpty)
        release.resolve(())
        #expect(try await next.sent.next() == #"422["get","m",1,{}]"#)
        next.deliver("432[null,2]")
        #expect(try await ordinary.value == 2)
        await scene.transport.disconnect()
        try await running.value
    }

    @Test("have deadlines and can be cancelled while they wait")
    func deadlines() async throws {
        let scene = try Scene()
        let cancelled = await scene.start { try await signIn("cancelled", scene, timeout: .seconds(20)) }
        let late = await scene.start { try await signIn("late", scene, timeout: .seconds(5)) }
        try await scene.clock.waitForSleepers(2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        scene.clock.advance(by: .seconds(5))
        let error = await scene.failure { try await late.value }
        #expect(error?.code == .timeout && error?.execution == .neverSent)
        #expect(scene.transport.load == TransportLoad(waiting: 0, unanswered: 0))
    }

    @Test("fail where they are larger than the server accepts")
    func oversized() async throws {
        let release = Promise<Void>()
        let (scene, begun) = try preparing(release)
        let waiting = await scene.start { try await signIn(.string(String(repeating: "x", count: 200)), scene) }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept(maxPayload: 100)
        #expect(await scene.failure { try await waiting.value }?.code == 413)
        try await begun.value()
        #expect(
            await scene.failure { try await signIn(.string(String(repeating: "x", count: 200)), scene) }?.code == 413)
        release.resolve(())
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("of one kind can be failed while they wait")
    func failUnsent() async throws {
        let release = Promise<Void>()
        let (scene, begun) = try preparing(release)
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        try await begun.value()
        let sent = await scene.start { try await signIn("sent", scene) }
        let waiting = await scene.start { try await scene.get(1) }
        scene.transport.socketClient.failUnsent { _ in true }
        let error = await scene.failure { try await waiting.value }
        #expect(error?.code == .notAuthenticated && error?.execution == .neverSent)
        #expect(try await socket.sent.next() == #"420["create","authentication","sent",{}]"#)
        socket.deliver("430[null,1]")
        #expect(try await sent.value == 1)
        release.resolve(())
        try await connecting
        #expect(socket.sent.waiting.isEmpty)
        await scene.transport.disconnect()
    }
}
