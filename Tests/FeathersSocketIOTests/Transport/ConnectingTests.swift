import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("A Socket.IO connection", .timeLimit(.minutes(10)))
struct ConnectingTests {
    @Test("is opened at the server's path with the transport named")
    func address() async throws {
        try await Scene().connected { _, socket async throws in
            #expect(socket.request.url.absoluteString == "http://127.0.0.1:3030/socket.io/?EIO=4&transport=websocket")
        }
    }

    @Test(
        "has an address made of origin, path and query",
        arguments: [
            (
                "https://example.com/app?foo=b%20ar&n=1", "/socket.io",
                "https://example.com/socket.io/?foo=b%20ar&n=1&EIO=4&transport=polling&sid=a%2Fb"
            ),
            ("ws://[::1]:8080", "ws/live/", "http://[::1]:8080/ws/live/?EIO=4&transport=polling&sid=a%2Fb"),
            ("WSS://h", "", "https://h/?EIO=4&transport=polling&sid=a%2Fb"),
        ])
    func addresses(url: String, path: String, expected: String) throws {
        let address = try EngineAddress(try #require(URL(string: url)), path: path)
        #expect(try address.url(transport: "polling", sid: "a/b").absoluteString == expected)
    }

    @Test("is refused where the URL leads nowhere", arguments: ["ftp://h", "http:///x", "h", "file:///tmp"])
    func noAddress(url: String) async throws {
        let transport = SocketIOTransport(try #require(URL(string: url)))
        let error = try await #require(throws: FeathersError.self) { try await transport.connect() }
        #expect(error.code == .badRequest)
    }

    @Test("tells how it is, from now on and from the beginning")
    func status() async throws {
        let scene = try Scene()
        var updates = scene.transport.statusUpdates().makeAsyncIterator()
        #expect(scene.transport.status == .offline)
        try await scene.connected { scene, _ async throws in
            #expect(scene.transport.status == .connected(recovered: false))
        }
        var seen: [ConnectionStatus] = []
        for _ in 0..<4 { if let status = await updates.next() { seen.append(status) } }
        #expect(seen == [.offline, .connecting(attempt: 1), .connected(recovered: false), .offline])
    }

    @Test("ends with a good-bye")
    func goodbye() async throws {
        let socket = try await Scene().connected { _, socket async throws in socket }
        #expect(try await socket.sent.next() == "41")
        #expect(try await socket.sent.next() == "close 1000")
    }

    @Test("ends with a good-bye while another thread writes to it")
    func goodbyeWhileWriting() async throws {
        let socket = try await Scene().connected { scene, socket async throws in
            scene.transport.socketClient.state.withLock { $0.current?.isDraining = true }
            return socket
        }
        #expect(try await socket.sent.next() == "41")
        #expect(try await socket.sent.next() == "close 1000")
    }

    @Test("says why there is none, and connect leaves nothing running")
    func refused() async throws {
        let scene = try Scene()
        scene.sockets.fail(with: WebSocketError(.cannotConnect, "Nobody listens at 127.0.0.1:3030"))
        let error = try await #require(throws: FeathersError.self) { try await scene.transport.connect() }
        #expect(error.code == .unavailable && error.message.contains("Nobody listens at 127.0.0.1:3030"))
        guard case .closed(.transportError) = scene.transport.status else {
            Issue.record("\(scene.transport.status)")
            return
        }
        scene.sockets.fail(with: nil)
        try await scene.connected { _, _ async throws in }
    }

    @Test("that the server refuses says so in the server's words and is not tried again")
    func connectError() async throws {
        let scene = try Scene()
        async let connecting = scene.failure {
            try await scene.transport.connect()
            return .null
        }
        let socket = try await scene.sockets.opened.next()
        socket.open()
        _ = try await socket.sent.next()
        socket.deliver(#"44{"message":"jwt expired","data":{"name":"TokenExpiredError"}}"#)
        let error = await connecting
        #expect(
            error?.code == .forbidden && error?.message == "jwt expired" && error?.data == ["name": "TokenExpiredError"]
        )
        #expect(scene.transport.status == .closed(.refused("jwt expired")))
        #expect(try await socket.sent.next() == "close 1000")
    }

    @Test("is given up when the server does not answer in time", arguments: [true, false])
    func timeout(opens: Bool) async throws {
        let scene = try Scene()
        async let connecting = scene.failure {
            try await scene.transport.connect()
            return .null
        }
        let socket = try await scene.sockets.opened.next()
        if opens {
            socket.open()
            _ = try await socket.sent.next()
        }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(20))
        #expect(await connecting?.code == .timeout)
        #expect(try await socket.sent.next() == "close 1000")
    }

    @Test(
        "is given up at its timeout, even if opening took part of it and the server answers neither CONNECT nor a close"
    )
    func silentServer() async throws {
        let scene = try Scene()
        async let connecting = scene.failure {
            try await scene.transport.connect()
            return .null
        }
        let socket = try await scene.sockets.opened.next()
        socket.fallSilent()
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(15))
        socket.open()
        _ = try await socket.sent.next()
        scene.clock.advance(by: .seconds(5))
        // The clock stands still: whatever else `connect` waited for, it would wait for ever.
        #expect(await connecting?.code == .timeout)
        #expect(try await socket.sent.next() == "close 1000")
    }

    @Test("is asked for its payload and headers on every attempt")
    func auth() async throws {
        let attempts = Locked(0)
        let scene = try Scene {
            $0.auth = {
                [
                    "token": .integer(
                        Int64(
                            attempts.withLock {
                                $0 += 1; return $0
                            }))
                ]
            }
            $0.headers = { ["X-Attempt": "\(attempts.withLock(\.self))"] }
        }
        try await scene.connected { scene, socket async throws in
            #expect(socket.request.headers["X-Attempt"] == "1")
            socket.cut()
            await scene.status { if case .waiting = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            let next = try await scene.sockets.opened.next()
            #expect(try await next.accept() == #"40{"token":2}"#)
            #expect(next.request.headers["X-Attempt"] == "2")
        }
    }

    @Test("that lacks its payload tells whose fault it was, not what was thrown")
    func authFails() async throws {
        struct Secret: Error { let token = "secret" }
        let scene = try Scene { $0.auth = { throw Secret() } }
        let error = try await #require(throws: FeathersError.self) { try await scene.transport.connect() }
        #expect(error.message.contains("Secret") && !error.message.contains("token") && error.cause is Secret)
        let known = try Scene { $0.auth = { throw FeathersError(.notAuthenticated, "log in first") } }
        let other = try await #require(throws: FeathersError.self) { try await known.transport.connect() }
        #expect(other.code == .notAuthenticated)
    }

    @Test("is given up if its payload or its headers take too long, and tried again", arguments: [true, false])
    func authTakesLong(isPayload: Bool) async throws {
        let scene = try Scene {
            if isPayload {
                $0.auth = { try await Promise().value() }
            } else {
                $0.headers = { try await Promise().value() }
            }
        }
        let running = Task { try await scene.transport.run() }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(20))
        await scene.status {
            if case .waiting(1, _, .transportError(let reason)) = $0 {
                reason.contains("within 20.0 seconds")
            } else {
                false
            }
        }
        running.cancel()
        _ = try? await running.value
    }

    @Test("that lacks its payload because a closure was cancelled is tried again")
    func authCancelled() async throws {
        let scene = try Scene { $0.auth = { throw CancellationError() } }
        let running = Task { try await scene.transport.run() }
        await scene.status { if case .waiting = $0 { true } else { false } }
        running.cancel()
        _ = try? await running.value
    }

    @Test("is tried again by run, at growing distances, and at once when told to")
    func retries() async throws {
        let scene = try Scene()
        scene.sockets.fail(with: WebSocketError(.cannotConnect, "no"))
        let running = Task { try await scene.transport.run() }
        for (attempt, delay) in [(1, 1), (2, 2), (3, 4)] {
            await scene.status { if case .waiting(attempt, .seconds(delay), _) = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(delay))
        }
        await scene.status { if case .waiting(4, .seconds(5), _) = $0 { true } else { false } }
        scene.sockets.fail(with: nil)
        scene.transport.retryNow()
        try await scene.sockets.opened.next().accept()
        await scene.status { $0 == .connected(recovered: false) }
        let second = try await #require(throws: FeathersError.self) { try await scene.transport.run() }
        #expect(second.code == .conflict)
        try await scene.transport.connect()
        running.cancel()
        try await running.value
        #expect(scene.transport.status == .offline)
    }

    @Test("is given up after as many attempts as allowed")
    func budget() async throws {
        let scene = try Scene { $0.reconnection.maximumAttempts = 1 }
        scene.sockets.fail(with: WebSocketError(.cannotConnect, "no"))
        let running = Task { try await scene.transport.run() }
        await scene.status { if case .waiting = $0 { true } else { false } }
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(1))
        await #expect(throws: FeathersError.self) { try await running.value }
        #expect(scene.transport.status == .closed(.attemptsExhausted))
    }

    @Test("ends when it is told to while it is being opened, or while it waits", arguments: [true, false])
    func stopped(opening: Bool) async throws {
        let scene = try Scene()
        if !opening { scene.sockets.fail(with: WebSocketError(.cannotConnect, "no")) }
        let running = Task { try await scene.transport.run() }
        if opening {
            _ = try await scene.sockets.opened.next()
        } else {
            await scene.status { if case .waiting = $0 { true } else { false } }
        }
        await scene.transport.disconnect()
        try await running.value
        #expect(scene.transport.status == .offline)
    }

    @Test("answers heartbeats, and is lost without them")
    func heartbeat() async throws {
        try await Scene().connected { scene, socket async throws in
            socket.deliver("2")
            #expect(try await socket.sent.next() == "3")
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(46))
            await scene.status { if case .waiting = $0 { true } else { false } }
            #expect(try await socket.sent.next() == "close 1000")
        }
    }

    @Test("lets go of everything when its transport is let go")
    func released() async throws {
        let sockets = FakeWebSockets()
        let socket = try await connectedAndForgotten(sockets)
        let frame = try await socket.sent.next()
        #expect(frame == "41" || frame == "close 1000")
    }

    private func connectedAndForgotten(_ sockets: FakeWebSockets) async throws -> FakeWebSocket {
        let scene = try Scene { $0.webSocketConnector = sockets }
        async let connecting: Void = scene.transport.connect()
        let socket = try await sockets.opened.next()
        try await socket.accept()
        try await connecting
        return socket
    }
}
