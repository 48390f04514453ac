#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("Opening a WebSocket", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct WebSocketOpeningConnectionTests {
        private static let good =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: {accept}\r\n\r\n"

        @Test("sends the request's path, query, headers and credentials")
        func request() async throws {
            let url = try await TestBackend.webSocketServer().url("head/a%20b?x=%2F&y").absoluteString
            var headers = HTTPHeaders()
            try headers.set("X-Token", to: "t")
            let withCredentials = try #require(URL(string: url.replacing("ws://", with: "http://me:secret@")))
            let socket = OpenedWebSocket(
                try await TestedConnector.make().connect(WebSocketRequest(url: withCredentials, headers: headers)))
            let head = try await socket.text()
            #expect(head.hasPrefix("GET /head/a%20b?x=%2F&y HTTP/1.1\r\n"))
            #expect(head.contains("\r\nHost: 127.0.0.1:"))
            #expect(head.contains("\r\nX-Token: t\r\n"))
            #expect(head.contains("\r\nAuthorization: Basic bWU6c2VjcmV0\r\n"))
        }

        @Test("takes an answer that comes with the first frame, byte by byte or at once", arguments: ["", "?drip=1"])
        func early(option: String) async throws {
            let frames = ServerFrame.text("first").bytes + ServerFrame.binary(.init(repeating: 1, count: 200)).bytes
            let socket = try await OpenedWebSocket(WebSocketServer.answering(Array(Self.good.utf8) + frames) + option)
            #expect(try await socket.text() == "first")
            #expect(try await socket.message() == .binary(.init(repeating: 1, count: 200)))
            socket.connection.close(code: 1000, reason: "")
            #expect(try await socket.closure().code == 1000)
        }

        static let refused: [(String, WebSocketError.Kind)] = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", .refused(status: 200)),
            ("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", .refused(status: 302)),
            ("HTTP/1.1 401 Unauthorized\r\n\r\n", .refused(status: 401)),
            ("SSH-2.0-x\r\n", .refused(status: nil)),
            (good.replacing("{accept}", with: "AAAAAAAAAAAAAAAAAAAAAAAAAAA="), .protocolViolation),
            (
                good.replacing("\r\n\r\n", with: "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"),
                .protocolViolation
            ),
        ]

        @Test("says why the server refused", arguments: refused)
        func refusals(answer: String, kind: WebSocketError.Kind) async throws {
            let url = try await TestBackend.webSocketServer().url(WebSocketServer.answering(Array(answer.utf8)))
            let error = try #require(await errorOfConnecting(to: url, by: TestedConnector.make()) as? WebSocketError)
            #expect(error.kind == kind)
        }

        @Test("ends with the connection", arguments: ["?end=fin", "?end=rst"])
        func lost(end: String) async throws {
            let url = try await TestBackend.webSocketServer().url(
                WebSocketServer.answering(Array("HTTP/1.1 101 Sw".utf8)) + end)
            #expect(
                (await errorOfConnecting(to: url, by: TestedConnector.make()) as? WebSocketError)?.kind
                    == .connectionLost)
        }

        @Test("gives up on a head without end")
        func endless() async throws {
            let url = try await TestBackend.webSocketServer().url("endless")
            #expect(
                (await errorOfConnecting(to: url, by: TestedConnector.make()) as? WebSocketError)?.kind
                    == .refused(status: nil))
        }

        @Test(
            "gives up after its timeout",
            arguments: ["stall", WebSocketServer.answering(Array("HTTP/1.1 101 Switching".utf8))])
        func timeout(path: String) async throws {
            let url = try await TestBackend.webSocketServer().url(path)
            let began = ContinuousClock.now
            #expect(
                (await errorOfConnecting(to: url, timeout: .milliseconds(300), by: TestedConnector.make())
                    as? WebSocketError)?.kind
                    == .timeout)
            #expect(began.duration(to: .now) >= .milliseconds(300))
        }

        @Test("names what cannot be connected to")
        func unreachable() async throws {
            let silent = try SilentPort()
            let closedPort = silent.port
            silent.stop()
            let url = try #require(URL(string: "ws://127.0.0.1:\(closedPort)/"))
            let error = try #require(await errorOfConnecting(to: url, by: TestedConnector.make()) as? WebSocketError)
            #expect(error.kind == .cannotConnect && error.message.contains("127.0.0.1:\(closedPort)"))
            let unknown = try #require(URL(string: "ws://no-such-host.invalid/"))
            #expect(
                (await errorOfConnecting(to: unknown, by: TestedConnector.make()) as? WebSocketError)?.kind
                    == .cannotConnect)
        }

        @Test(
            "takes ws, wss, http and https only",
            arguments: ["ftp://h/", "ws:///path", "h/path", "ws://h:99999/", "file:///x"])
        func urls(text: String) async throws {
            let url = try #require(URL(string: text))
            #expect(
                (await errorOfConnecting(to: url, by: TestedConnector.make()) as? WebSocketError)?.kind == .invalidURL)
        }

        @Test(
            "is cancelled at once, whatever it waits for",
            arguments: ["a full backlog", "silence", "TLS with silence", "an answer"])
        func cancellation(waitingFor: String) async throws {
            let silent = try SilentPort()
            let full = try SilentPort(isFull: true)
            let url =
                switch waitingFor {
                case "a full backlog": try #require(URL(string: "ws://127.0.0.1:\(full.port)/"))
                case "silence": try #require(URL(string: "ws://127.0.0.1:\(silent.port)/"))
                case "TLS with silence": try #require(URL(string: "wss://127.0.0.1:\(silent.port)/"))
                default: try await TestBackend.webSocketServer().url("stall")
                }
            for round in 0..<20 {
                // Who waits for the timeout instead runs into the suite's limit.
                let task = Task { await errorOfConnecting(to: url, timeout: .seconds(300), by: TestedConnector.make()) }
                for _ in 0..<(round * 20) { await Task.yield() }
                task.cancel()
                #expect(await task.value is CancellationError)
            }
        }

        @Test("is given up in time where nobody answers at all")
        func blackHole() async throws {
            let full = try SilentPort(isFull: true)
            let url = try #require(URL(string: "ws://127.0.0.1:\(full.port)/"))
            #expect(
                (await errorOfConnecting(to: url, timeout: .milliseconds(200), by: TestedConnector.make())
                    as? WebSocketError)?.kind
                    == .timeout)
        }
    }
#endif
