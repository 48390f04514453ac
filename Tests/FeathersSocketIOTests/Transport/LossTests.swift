import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("Calls without a connection", .timeLimit(.minutes(10)))
struct LossTests {
    @Test("wait for one, in order")
    func queued() async throws {
        let scene = try Scene()
        let first = await scene.start { try await scene.get(1) }
        let second = await scene.start { try await scene.get(2) }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        #expect(try await socket.accept() == "40")
        #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
        #expect(try await socket.sent.next() == #"421["get","m",2,{}]"#)
        socket.deliver("430[null,1]", "431[null,2]")
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("fail after a second where nothing opens one, and say what to write", arguments: [nil, Duration.seconds(10)])
    func notRunning(timeout: Duration?) async throws {
        let scene = try Scene { $0.callTimeout = timeout }
        let call = await scene.start { await scene.failure { try await scene.get(1) } }
        try await scene.clock.waitForSleepers(timeout == nil ? 1 : 2)
        scene.clock.advance(by: .seconds(1))
        let error = try await call.value
        #expect(error?.code == .unavailable && error?.execution == .neverSent)
        #expect(error?.message.contains("withFeathersApp(app)") == true)
        #expect(scene.transport.pendingCallCount == 0)
    }

    @Test("end at their deadline, never sent, even before that")
    func deadline() async throws {
        let scene = try Scene()
        let call = await scene.start {
            await scene.failure { try await scene.get(1, Params(timeout: .milliseconds(500))) }
        }
        try await scene.clock.waitForSleepers(2)
        scene.clock.advance(by: .milliseconds(500))
        let error = try await call.value
        #expect(error?.code == .timeout && error?.execution == .neverSent)
        #expect(scene.transport.pendingCallCount == 0)
    }

    @Test("that waited in vain have the reason as their cause, and the status tells it")
    func reason() async throws {
        try await Scene().connected { scene, socket async throws in
            socket.cut()
            await scene.status { if case .waiting(1, _, .transportClose) = $0 { true } else { false } }
            let call = await scene.start { try await scene.get(1, Params(timeout: .milliseconds(500))) }
            // One timer serves the next attempt and the call, which is earlier.
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .milliseconds(500))
            let error = try await #require(throws: FeathersError.self) { try await call.value }
            #expect(error.code == .timeout && error.cause is FeathersError)
            #expect(error.message == "No connection was opened in time: The connection was closed")
        }
    }

    @Test("were never sent when the app is shut down; those on the wire may have executed")
    func endedByShutdown() async throws {
        let scene = try Scene()
        let waiting = await scene.start { try await scene.get(1) }
        scene.transport.endCalls()
        let unsent = try await #require(throws: FeathersError.self) { try await waiting.value }
        #expect(unsent.code == .unavailable && unsent.execution == .neverSent)
        try await scene.connected { scene, socket async throws in
            let call = await scene.start { try await scene.get(2) }
            _ = try await socket.sent.next()
            scene.transport.endCalls()
            let sent = try await #require(throws: FeathersError.self) { try await call.value }
            #expect(sent.code == .unavailable && sent.execution == .mayHaveExecuted)
        }
    }

    @Test("fail at once beyond the limit, when volatile, or by option")
    func refused() async throws {
        let scene = try Scene { $0.offlineCalls = .wait(limit: 1) }
        let waiting = await scene.start { try await scene.get(1) }
        let beyond = await scene.failure { try await scene.get(2) }
        #expect(beyond?.code == .unavailable && beyond?.execution == .neverSent)
        var params = Params()
        params.isVolatile = true
        let volatile = await scene.failure { try await scene.get(2, params) }
        #expect(volatile?.code == .unavailable && volatile?.execution == .neverSent)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let failing = try Scene { $0.offlineCalls = .fail }
        #expect(await failing.failure { try await failing.get(1) }?.code == .unavailable)
    }

    @Test("fail at once when it was lost under them; later ones wait for the next, which begins with a gap")
    func lost() async throws {
        try await Scene().connected { scene, socket async throws in
            async let sent = scene.failure { try await scene.get(1) }
            _ = try await socket.sent.next()
            socket.cut()
            let error = await sent
            #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
            async let queued = scene.get(2)
            await scene.status { if case .waiting(attempt: 1, delay: .seconds(1), _) = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            let next = try await scene.sockets.opened.next()
            try await next.accept()
            #expect(try await scene.deliveries.next() == .gap)
            #expect(try await next.sent.next() == #"421["get","m",2,{}]"#)
            next.deliver("431[null,2]")
            #expect(try await queued == 2)
        }
    }

    @Test("are forgotten when they are cancelled in the queue")
    func cancelled() async throws {
        let scene = try Scene()
        let first = await scene.start { try await scene.get(1) }
        let second = await scene.start { try await scene.get(2) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        #expect(try await socket.sent.next() == #"421["get","m",2,{}]"#)
        socket.deliver("431[null,2]")
        #expect(try await second.value == 2)
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("are refused at the connection where they turn out too large for the server")
    func oversized() async throws {
        let scene = try Scene()
        let request = ServiceRequest(path: "m", method: .create, data: .string(String(repeating: "x", count: 200)))
        let call = await scene.start { await scene.failure { try await scene.transport.send(request).result } }
        async let connecting: Void = scene.transport.connect()
        let socket = try await scene.sockets.opened.next()
        try await socket.accept(maxPayload: 100)
        let error = try await call.value
        #expect(error?.code == 413 && error?.execution == .neverSent)
        try await connecting
        await scene.transport.disconnect()
    }

    @Test("wait where the server has been silent for too long, which is noticed before they are sent")
    func silence() async throws {
        try await Scene { $0.callTimeout = nil }.connected { scene, socket async throws in
            // The clock moves without waking anybody in between, as after a machine's sleep.
            scene.clock.advance(by: .seconds(46))
            async let call = scene.get(1)
            #expect(try await socket.sent.next() == "close 1000")
            await scene.status { if case .waiting = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            let next = try await scene.sockets.opened.next()
            try await next.accept()
            #expect(try await next.sent.next() == #"420["get","m",1,{}]"#)
            next.deliver("430[null,1]")
            #expect(try await call == 1)
        }
    }

    @Test("fail at once when the connection is closed for good, and so do those that waited")
    func closed() async throws {
        let scene = try Scene { $0.reconnection = .never }
        let running = Task { try await scene.transport.run() }
        let socket = try await scene.sockets.opened.next()
        try await socket.accept()
        async let sent = scene.failure { try await scene.get(1) }
        _ = try await socket.sent.next()
        socket.deliver("41")
        #expect(await sent?.execution == .mayHaveExecuted)
        let error = try await #require(throws: FeathersError.self) { try await running.value }
        #expect(error.code == .unavailable)
        #expect(scene.transport.status == .closed(.serverDisconnect))
        let late = await scene.failure { try await scene.get(2) }
        #expect(late?.code == .unavailable && late?.execution == .neverSent)
    }
}
