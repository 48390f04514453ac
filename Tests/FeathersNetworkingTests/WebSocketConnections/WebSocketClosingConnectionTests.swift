#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("Closing a WebSocket", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct WebSocketClosingConnectionTests {
        @Test(
            "tells the server the code, and the owner the server's answer",
            arguments: [1000, 1001, 3000, 4999] as [UInt16])
        func ours(code: UInt16) async throws {
            let key = UUID().uuidString
            let socket = try await OpenedWebSocket("echo?key=\(key)")
            socket.connection.close(code: code, reason: "enough")
            socket.connection.close(code: 1011, reason: "again")
            let closure = try await socket.closure()
            #expect(closure.code == code && closure.error == nil)
            #expect(await socket.next() == nil)
            #expect(try await OpenedWebSocket("closed?key=\(key)").text() == "\(code)")
        }

        @Test(
            "by the server tells the owner code and reason, and is answered",
            arguments: [1000, 1001, 1011, 1013, 4001] as [UInt16])
        func theirs(code: UInt16) async throws {
            let key = UUID().uuidString
            let bytes =
                (ServerFrame.text("last").bytes + ServerFrame.close(code, Array("why".utf8)).bytes)
                + ServerFrame.text("late").bytes
            let socket = try await OpenedWebSocket(WebSocketServer.sending(bytes) + "?key=\(key)")
            #expect(try await socket.text() == "last")
            let closure = try await socket.closure()
            #expect(closure.code == code && closure.reason == "why" && closure.error == nil)
            #expect(await socket.next() == nil)
            #expect(try await OpenedWebSocket("closed?key=\(key)").text() == "\(code)")
        }

        @Test("without a code is 1005")
        func withoutCode() async throws {
            let socket = try await OpenedWebSocket(WebSocketServer.sending(ServerFrame.close(nil).bytes))
            #expect(try await socket.closure().code == 1005)
        }

        @Test("delivers what was on its way")
        func onItsWay() async throws {
            let socket = try await OpenedWebSocket("echo")
            for number in 0..<100 { try socket.connection.sendNow(.text("\(number)")) }
            socket.connection.close(code: 1000, reason: "")
            for number in 0..<100 { #expect(try await socket.text() == "\(number)") }
            #expect(try await socket.closure().code == 1000)
        }

        @Test("refuses messages from then on")
        func afterwards() async throws {
            let socket = try await OpenedWebSocket("echo")
            socket.connection.close(code: 1000, reason: "")
            for _ in 0..<2 {
                #expect(throws: WebSocketError.self) { try socket.connection.sendNow(.text("x")) }
                _ = try? await socket.closure()
            }
        }

        @Test("does not wait longer than told for a server that does not answer")
        func deaf() async throws {
            let socket = try await OpenedWebSocket("deaf", closingTimeout: .milliseconds(200))
            socket.connection.close(code: 1000, reason: "")
            let closure = try await socket.closure()
            #expect(closure.code == 1006 && closure.error?.kind == .timeout)
        }

        @Test("happens by itself when the connection is lost", arguments: ["rst", "fin", "half"])
        func lost(path: String) async throws {
            let socket = try await OpenedWebSocket(path)
            try socket.connection.sendNow(.text("go"))
            let closure = try await socket.closure()
            #expect(closure.code == 1006 && closure.error?.kind == .connectionLost)
            #expect(await socket.next() == nil)
            #expect(throws: WebSocketError.self) { try socket.connection.sendNow(.text("x")) }
        }

        @Test("happens by itself in the middle of a frame")
        func midFrame() async throws {
            let answer =
                "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
            let frame = ServerFrame(opcode: 1, payload: [120], statedLength: 1000).bytes
            let socket = try await OpenedWebSocket(WebSocketServer.answering(Array(answer.utf8) + frame) + "?end=fin")
            #expect(try await socket.closure().error?.kind == .connectionLost)
        }

        @Test("is noticed by whoever goes on writing")
        func writing() async throws {
            let socket = try await OpenedWebSocket("rst")
            #expect(throws: WebSocketError.self) {
                while true { try socket.connection.sendNow(.text(String(repeating: "y", count: 5000))) }
            }
            #expect(try await socket.closure().error?.kind == .connectionLost)
        }

        @Test("is said to the server when the owner just drops the connection")
        func dropped() async throws {
            let key = UUID().uuidString
            let url = try await TestBackend.webSocketServer().url("echo?key=\(key)")
            do { _ = try await TestedConnector.make().connect(WebSocketRequest(url: url)) }
            #expect(try await OpenedWebSocket("closed?key=\(key)").text() == "1001")
        }

        @Test("before anybody listens is told to whoever listens later")
        func beforeListening() async throws {
            let url = try await TestBackend.webSocketServer().url("echo")
            let connection = try await TestedConnector.make().connect(WebSocketRequest(url: url))
            connection.close(code: 1000, reason: "")
            #expect(try await OpenedWebSocket(connection).closure().code == 1000)
        }
    }
#endif
