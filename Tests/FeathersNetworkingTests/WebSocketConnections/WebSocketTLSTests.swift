#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("WebSockets over TLS", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct WebSocketTLSTests {
        private func open(_ path: String) async throws -> OpenedWebSocket {
            let server = try await TestBackend.webSocketServer()
            let certificate = try #require(server.certificate, "The tests of TLS need the command openssl")
            let connector = TestedConnector.make(tls: TLSConfiguration(trust: .certificates(in: certificate)))
            return OpenedWebSocket(try await connector.connect(WebSocketRequest(url: server.secureURL(path))))
        }

        @Test(
            "carry messages of any size, to a server whose certificate is trusted",
            arguments: [0, 1, 16_384, 16_385, 1 << 20, 16 << 20])
        func messages(count: Int) async throws {
            let socket = try await open("echo")
            let text = String(repeating: "z", count: count)
            for _ in 0..<2 {
                try socket.connection.sendNow(.text(text))
                #expect(try await socket.text() == text)
            }
        }

        @Test("carry a thousand messages in order, both ways at once")
        func order() async throws {
            let socket = try await open("echo")
            for number in 0..<1000 { try socket.connection.sendNow(.text("\(number)")) }
            for number in 0..<1000 { #expect(try await socket.text() == "\(number)") }
        }

        @Test("leave nothing unread above the socket")
        func flood() async throws {
            let socket = try await open("flood/5000/300")
            for number in 0..<5000 { #expect(try await socket.text().hasPrefix("\(number):")) }
        }

        @Test("take an answer that comes with the first frame")
        func early() async throws {
            let answer =
                "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
            let socket = try await open(WebSocketServer.answering(Array(answer.utf8) + ServerFrame.text("first").bytes))
            #expect(try await socket.text() == "first")
        }

        @Test("queue what the server does not read yet, and lose nothing of it")
        func queued() async throws {
            let key = UUID().uuidString
            let socket = try await open("slow?key=\(key)")
            for _ in 0..<12 { try socket.connection.sendNow(.binary(.init(repeating: 7, count: 1 << 20))) }
            for _ in 0..<1000 { try socket.connection.sendNow(.binary(.init(repeating: 7, count: 100))) }
            try socket.connection.sendNow(.text("total"))
            _ = try await OpenedWebSocket("release?key=\(key)")
            #expect(try await socket.text() == "\(12 << 20 + 100_005)")
        }

        @Test("end cleanly, or with the connection", arguments: [("echo", false), ("rst", true), ("fin", true)])
        func ending(path: String, isLost: Bool) async throws {
            let socket = try await open(path)
            if isLost {
                try socket.connection.sendNow(.text("go"))
            } else {
                socket.connection.close(code: 1000, reason: "")
            }
            let closure = try await socket.closure()
            #expect(closure.code == (isLost ? 1006 : 1000))
            #expect(closure.error?.kind == (isLost ? .connectionLost : nil))
            // Writing on must not end the process either.
            for _ in 0..<100 { try? socket.connection.sendNow(.text("x")) }
        }

        @Test("refuse a certificate nobody vouches for")
        func selfSigned() async throws {
            let server = try await TestBackend.webSocketServer()
            let error = try #require(
                await errorOfConnecting(to: server.secureURL("echo"), by: TestedConnector.make()) as? WebSocketError)
            #expect(
                error.kind == .tls && error.message.lowercased().contains("self") && error.message.contains("localhost")
            )
        }

        @Test("refuse a certificate for another host")
        func wrongHost() async throws {
            let server = try await TestBackend.webSocketServer()
            let certificate = try #require(server.certificate)
            let trusting = TestedConnector.make(tls: TLSConfiguration(trust: .certificates(in: certificate)))
            let url = server.secureURL("echo", host: "127.0.0.1")
            #expect((await errorOfConnecting(to: url, by: trusting) as? WebSocketError)?.kind == .tls)
            let lax = TLSConfiguration(
                trust: .certificates(in: certificate), verification: .dangerouslyIgnoringHostName)
            #expect(await errorOfConnecting(to: url, by: TestedConnector.make(tls: lax)) == nil)
            #expect(
                await errorOfConnecting(
                    to: url, by: TestedConnector.make(tls: TLSConfiguration(verification: .dangerouslyOff))) == nil)
        }

        @Test("say so where one side speaks TLS and the other does not")
        func mismatch() async throws {
            let server = try await TestBackend.webSocketServer()
            let secure = try #require(
                URL(string: try await TestBackend.url().absoluteString.replacing("http:", with: "wss:")))
            #expect((await errorOfConnecting(to: secure, by: TestedConnector.make()) as? WebSocketError)?.kind == .tls)
            let plain = try #require(
                URL(string: server.secureURL("echo").absoluteString.replacing("wss:", with: "ws:")))
            #expect(await errorOfConnecting(to: plain, by: TestedConnector.make()) is WebSocketError)
        }
    }
#endif
