import FeathersNetworking
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("Engine.IO over a WebSocket")
struct WebSocketEngineConnectionTests {
    @Test("loses none of the many small packets that come before it runs")
    func many() async throws {
        let socket = FakeWebSocket(WebSocketRequest(url: try #require(URL(string: "ws://127.0.0.1/"))))
        let connection = WebSocketEngineConnection.start(socket)
        socket.open()
        for number in 0..<10_000 { socket.deliver("4\(number)") }
        let delivered = Mailbox<EnginePacket>()
        let closures = Mailbox<EngineClosure>()
        await connection.run {
            delivered.put($0)
        } onEnd: {
            closures.put($0)
        }
        // The first one is the handshake. Compared outside of the expectation, which would print all of them.
        let areInOrder = delivered.waiting.dropFirst().elementsEqual((0..<10_000).map { EnginePacket.message("\($0)") })
        #expect(areInOrder)
        #expect(closures.waiting.isEmpty)
    }

    @Test(
        "starts when packets are delivered, so that none that follows what it sends first waits for it",
        arguments: [false, true])
    func start(hasEarlyPackets: Bool) async throws {
        let socket = FakeWebSocket(WebSocketRequest(url: try #require(URL(string: "ws://127.0.0.1/"))))
        let connection = WebSocketEngineConnection.start(socket)
        if hasEarlyPackets { socket.open() }
        let delivered = Mailbox<EnginePacket>()
        await connection.run {
            delivered.put($0)
        } onStart: {
            #expect(delivered.waiting.count == (hasEarlyPackets ? 1 : 0))
            socket.deliver("40")
            #expect(delivered.waiting.last == .message("0"))
        } onEnd: { _ in
        }
    }

    @Test("keeps 16 MiB of packets at the most that come before it runs, and ends where there are more")
    func early() async throws {
        let socket = FakeWebSocket(WebSocketRequest(url: try #require(URL(string: "ws://127.0.0.1/"))))
        let connection = WebSocketEngineConnection.start(socket)
        let message = "4" + String(repeating: "x", count: 9 << 20)
        socket.open()
        socket.deliver(message, message)
        let delivered = Mailbox<Int>()
        let closures = Mailbox<EngineClosure>()
        await connection.run {
            delivered.put($0.size)
        } onEnd: {
            closures.put($0)
        }
        #expect(
            closures.waiting.map(\.reason) == [.invalid("The server sent too much data before the session was running")]
        )
        #expect(delivered.waiting.count == 2 && delivered.waiting.last == 9 << 20)
    }
}
