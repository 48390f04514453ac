import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("What is done on a connection before calls", .timeLimit(.minutes(10)))
struct PreparationTests {
    static let login = ServiceRequest(path: "authentication", method: .create, data: 1)

    /// A setup that logs in, and hands over what came of it.
    private func loggingIn(_ results: Mailbox<Result<JSONValue, FeathersError>>) -> ConnectionSetup {
        ConnectionSetup(prepare: { send in
            do {
                results.put(.success(try await send(Self.login).result))
            } catch {
                results.put(.failure(error as? FeathersError ?? FeathersError(.generalError, "\(error)")))
            }
        })
    }

    private func queue(_ id: ServiceID, _ scene: Scene) async -> Task<JSONValue, any Error> {
        await scene.start { try await scene.get(id) }
    }

    @Test(
        "is on the wire before every call that waits, and before those made meanwhile; only then the connection stands")
    func order() async throws {
        let scene = try Scene()
        let results = Mailbox<Result<JSONValue, FeathersError>>()
        scene.transport.use(connectionSetup: loggingIn(results))
        scene.transport.use(connectionSetup: loggingIn(results))
        let first = await queue(1, scene)
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        #expect(try await socket.sent.next() == #"421["create","authentication",1,{}]"#)
        let second = await queue(2, scene)
        socket.deliver(#"431[null,"in"]"#)
        #expect(try await socket.sent.next() == #"423["create","authentication",1,{}]"#)
        #expect(scene.transport.status == .connecting(attempt: 1))
        #expect(socket.sent.waiting.isEmpty)
        socket.deliver(#"433[null,"again"]"#)
        #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
        #expect(try await socket.sent.next() == #"422["get","m",2,{}]"#)
        socket.deliver("430[null,1]", "432[null,2]")
        #expect(try await (first.value, second.value) == (1, 2))
        try await connecting
        #expect(scene.transport.status == .connected(recovered: false))
        #expect(try await results.next().get() == "in")
        #expect(try await results.next().get() == "again")
        await scene.transport.disconnect()
    }

    @Test("fails calls meanwhile that are worth nothing late")
    func volatile() async throws {
        let scene = try Scene()
        scene.transport.use(connectionSetup: loggingIn(Mailbox()))
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        _ = try await socket.sent.next()
        var params = Params()
        params.isVolatile = true
        #expect(await scene.failure { try await scene.get(1, params) }?.execution == .neverSent)
        socket.deliver("430[]")
        try await connecting
        await scene.transport.disconnect()
    }

    @Test(
        "is done again on the next connection, recovered or not, and events need not wait for it",
        arguments: [true, false])
    func again(recovers: Bool) async throws {
        let scene = try Scene { $0.recoversState = recovers }
        scene.transport.use(connectionSetup: loggingIn(Mailbox()))
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept(pid: "p")
        _ = try await socket.sent.next()
        socket.deliver("430[]")
        try await connecting
        socket.cut()
        await scene.status { if case .waiting = $0 { true } else { false } }
        let call = await queue(1, scene)
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(1))
        let next = try await scene.sockets.opened.next()
        try await next.accept(pid: recovers ? "p" : "another")
        #expect(try await next.sent.next() == #"422["create","authentication",1,{}]"#)
        next.deliver(#"42["m created",1]"#)
        if !recovers { #expect(try await scene.deliveries.next() == .gap) }
        #expect(try await scene.deliveries.next() == .event("m", "created", 1))
        #expect(scene.transport.status == .connecting(attempt: 2))
        next.deliver("432[]")
        #expect(try await next.sent.next() == #"421["get","m",1,{}]"#)
        next.deliver("431[null,1]")
        #expect(try await call.value == 1)
        await scene.status { $0 == .connected(recovered: recovers) }
        await scene.transport.disconnect()
    }

    @Test("fails with its connection, and what waits goes on waiting for the next")
    func lost() async throws {
        let scene = try Scene()
        let results = Mailbox<Result<JSONValue, FeathersError>>()
        scene.transport.use(connectionSetup: loggingIn(results))
        let call = await queue(1, scene)
        let running = Task { try await scene.transport.run() }
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        _ = try await socket.sent.next()
        socket.cut()
        guard case .failure(let error) = try await results.next() else { throw CancellationError() }
        #expect(error.code == .unavailable && error.execution == .mayHaveExecuted)
        await scene.status { if case .waiting(attempt: 1, _, _) = $0 { true } else { false } }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(1))
        let next = try await scene.sockets.opened.next()
        try await next.accept()
        #expect(try await next.sent.next() == #"422["create","authentication",1,{}]"#)
        next.deliver("432[]")
        #expect(try await next.sent.next() == #"420["get","m",1,{}]"#)
        next.deliver("430[null,1]")
        #expect(try await call.value == 1)
        await scene.transport.disconnect()
        try await running.value
    }

    @Test("is never sent over a later connection, as calls are that found theirs broken")
    func neverLater() async throws {
        let scene = try Scene()
        let results = Mailbox<Result<JSONValue, FeathersError>>()
        scene.transport.use(connectionSetup: loggingIn(results))
        let running = await scene.start { try await scene.transport.run() }
        let socket = try await scene.sockets.opened.next()
        socket.open()
        _ = try await socket.sent.next()
        socket.failSending(with: WebSocketError(.closed, "closed"))
        socket.deliver(#"40{"sid":"s"}"#)
        await scene.settled()
        #expect(scene.transport.pendingCallCount == 1)
        socket.cut()
        guard case .failure(let error) = try await results.next() else { throw CancellationError() }
        #expect(error.code == .unavailable && error.execution == .neverSent)
        #expect(scene.transport.pendingCallCount == 0)
        await scene.transport.disconnect()
        try await running.value
    }

    @Test("takes no longer than its calls may, while the deadlines of those that wait go on counting")
    func deadlines() async throws {
        let scene = try Scene { $0.callTimeout = .seconds(60) }
        scene.transport.use(
            connectionSetup: ConnectionSetup(prepare: { send in
                var login = Self.login
                login.params.timeout = .seconds(10)
                _ = try? await send(login)
            }))
        let patient = await queue(1, scene)
        let short = await scene.start { await scene.failure { try await scene.get(2, Params(timeout: .seconds(3))) } }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        _ = try await socket.sent.next()
        scene.clock.advance(by: .seconds(3))
        let error = try await short.value
        #expect(error?.code == .timeout && error?.execution == .neverSent)
        scene.clock.advance(by: .seconds(7))
        #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
        socket.deliver("430[null,1]")
        #expect(try await patient.value == 1)
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("is cancelled with its connection, by whichever side", arguments: [true, false])
    func cancelled(byServer: Bool) async throws {
        let scene = try Scene()
        let begun = Promise<Void>()
        let ended = Promise<Bool>()
        scene.transport.use(
            connectionSetup: ConnectionSetup(prepare: { _ in
                begun.resolve(())
                try? await Promise<Void>().value()
                ended.resolve(Task.isCancelled)
            }))
        let running = Task { try await scene.transport.run() }
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        try await begun.value()
        if byServer { socket.cut() } else { running.cancel() }
        #expect(try await ended.value())
        await scene.transport.disconnect()
        try await running.value
        #expect(scene.transport.status == .offline)
    }
}
