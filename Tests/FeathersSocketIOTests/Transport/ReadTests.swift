import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersNetworking
@testable import FeathersSocketIO

@Suite("What one read of a Socket.IO connection brings", .timeLimit(.minutes(10)))
struct ReadTests {
    /// A connection whose messages arrive several at a time.
    private final class ReadSocket: LoopedConnection {
        let socket: FakeWebSocket
        private let handler = Locked<WebSocketHandler?>(nil)

        init(_ socket: FakeWebSocket) { self.socket = socket }

        func start(_ handler: WebSocketHandler) {
            self.handler.withLock { $0 = handler }
            socket.start(handler.event)
        }

        func sendNow(_ message: WebSocketMessage) throws(WebSocketError) { try socket.sendNow(message) }
        func close(code: UInt16, reason: String) { socket.close(code: code, reason: reason) }

        /// Delivers the messages of one read.
        func read(_ texts: String...) {
            guard let handler = handler.withLock({ $0 }) else { return }
            for text in texts where !Array(text.utf8).withUnsafeBufferPointer({ handler.text($0) }) {
                handler.event(.message(.text(text)))
            }
            handler.readEnded()
        }
    }

    private struct Connector: WebSocketConnector {
        let opened = Mailbox<ReadSocket>()

        func connect(_ request: WebSocketRequest) async throws -> any WebSocketConnection {
            let socket = ReadSocket(FakeWebSocket(request))
            opened.put(socket)
            return socket
        }
    }

    private func connected(_ body: @Sendable (Scene, ReadSocket) async throws -> Void) async throws {
        let connector = Connector()
        let scene = try Scene { $0.webSocketConnector = connector }
        async let connecting: Void = scene.transport.connect()
        let socket = try await connector.opened.next()
        try await socket.socket.accept()
        try await connecting
        try await body(scene, socket)
        await scene.transport.disconnect()
    }

    @Test("is delivered in order, and its callers are resumed after its events")
    func order() async throws {
        try await connected { scene, socket async throws in
            async let call = scene.get(1)
            _ = try await socket.socket.sent.next()
            socket.read(#"42["m created",1]"#, "430[null,3]", #"42["m created",2]"#, #"42["n typing",3]"#)
            #expect(try await call == 3)
            #expect(
                scene.deliveries.waiting == [
                    .event("m", "created", 1), .event("m", "created", 2), .event("n", "typing", 3),
                ])
        }
    }

    @Test("resumes each caller with its own result")
    func callers() async throws {
        try await connected { scene, socket async throws in
            var calls: [Task<JSONValue, any Error>] = []
            for id in 0..<3 { calls.append(await scene.start { try await scene.get(.integer(Int64(id))) }) }
            for _ in 0..<3 { _ = try await socket.socket.sent.next() }
            socket.read(
                "432[null,2]", "430[null,0]", #"431[{"name":"NotFound","code":404,"message":"no"}]"#, "437[null]")
            #expect(try await calls[0].value == 0)
            await #expect(throws: FeathersError.self) { try await calls[1].value }
            #expect(try await calls[2].value == 2)
            #expect(try await scene.diagnostics.next() == .unknownAcknowledgement)
        }
    }

    @Test("is delivered up to a violation, which ends the connection")
    func violation() async throws {
        try await connected { scene, socket async throws in
            socket.read(#"42["m created",1]"#, "4nonsense", #"42["m created",2]"#)
            #expect(scene.deliveries.waiting == [.event("m", "created", 1)])
            #expect(try await scene.diagnostics.next() == .protocolViolation)
            await scene.status { if case .waiting = $0 { true } else { false } }
        }
    }

    @Test("is delivered before the end of the connection is reported", arguments: [true, false])
    func end(byServer: Bool) async throws {
        try await connected { scene, socket async throws in
            let call = await scene.start { try await scene.get(1) }
            _ = try await socket.socket.sent.next()
            if byServer {
                socket.read(#"42["m created",1]"#, "430[null,3]", "41", #"42["m created",2]"#)
            } else {
                socket.read(#"42["m created",1]"#, "430[null,3]", "1")
            }
            #expect(try await call.value == 3)
            #expect(scene.deliveries.waiting == [.event("m", "created", 1)])
        }
    }

    @Test("completes a packet with an attachment, and pings are answered in between")
    func attachments() async throws {
        try await connected { scene, socket async throws in
            socket.read(#"451-["m created",{"_placeholder":true,"num":0}]"#)
            socket.socket.deliver([1, 2, 3])
            socket.read(#"42["m created",2]"#, "2", #"42["m created",3]"#)
            #expect(
                scene.deliveries.waiting == [
                    .event("m", "created", "AQID"), .event("m", "created", 2), .event("m", "created", 3),
                ])
            #expect(try await socket.socket.sent.next() == "3")
        }
    }
}
