#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("Messages over a WebSocket", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct WebSocketMessageTests {
        @Test(
            "come back as they were sent",
            arguments: [WebSocketMessage.text(""), .text("größer €🙂"), .binary([]), .binary([0, 255, 10])])
        func small(message: WebSocketMessage) async throws {
            let socket = try await OpenedWebSocket("echo")
            try socket.connection.sendNow(message)
            #expect(try await socket.message() == message)
            try socket.connection.sendNow(message)
            #expect(try await socket.message() == message)
        }

        @Test("come back over a connection that was dumped while it was open")
        func dumped() async throws {
            let socket = try await OpenedWebSocket("echo")
            var text = ""
            dump(socket.connection, to: &text)
            #expect(text.contains("WebSocketConnection"))
            try socket.connection.sendNow(.text("dumped"))
            #expect(try await socket.text() == "dumped")
        }

        @Test("of up to 16 MB come back as they were sent", arguments: [125, 126, 65535, 65536, 1 << 20, 16 << 20])
        func large(count: Int) async throws {
            let socket = try await OpenedWebSocket("echo")
            let text =
                String(repeating: "0123456789abcdef", count: count / 16) + String(repeating: "x", count: count % 16)
            try socket.connection.sendNow(.text(text))
            #expect(try await socket.text() == text)
            let bytes = Array(text.utf8)
            try socket.connection.sendNow(.binary(bytes))
            #expect(try await socket.message() == .binary(bytes))
        }

        @Test("arrive in order, a thousand of them")
        func order() async throws {
            let socket = try await OpenedWebSocket("echo")
            for number in 0..<1000 { try socket.connection.sendNow(.text("\(number)")) }
            for number in 0..<1000 { #expect(try await socket.text() == "\(number)") }
        }

        @Test("arrive in order and whole when the server is faster than we are")
        func flood() async throws {
            let socket = try await OpenedWebSocket("flood/20000/300")
            for number in 0..<20000 {
                let text = try await socket.text()
                #expect(text.hasPrefix("\(number):") && text.utf8.count == 300)
            }
        }

        @Test("in a hundred fragments are put together")
        func fragments() async throws {
            let socket = try await OpenedWebSocket("big/100/10000")
            guard case .binary(let bytes) = try await socket.message() else { return #expect(Bool(false)) }
            #expect(bytes.count == 1_000_000)
            #expect(bytes.indices.allSatisfy { bytes[$0] == UInt8($0 / 10000) })
        }

        @Test("larger than accepted end the connection with 1009")
        func tooLarge() async throws {
            let key = UUID().uuidString
            let socket = try await OpenedWebSocket("big/100/10000?key=\(key)", maximumMessageSize: 999_999)
            let closure = try await socket.closure()
            #expect(closure.code == 1006 && closure.error?.kind == .messageTooLarge)
            #expect(try await OpenedWebSocket("closed?key=\(key)").text() == "1009")
        }

        @Test("wait for somebody to listen, and pings are answered")
        func pings() async throws {
            let frames = [
                ServerFrame.text("first"), .ping("are you there"), .text("a", isFinal: false), .ping(""),
                .continuation([98]),
            ]
            let socket = try await OpenedWebSocket(WebSocketServer.sending(frames.flatMap(\.bytes)))
            for expected in ["first", "ab", "pong:are you there", "pong:"] {
                #expect(try await socket.text() == expected)
            }
        }

        @Test(
            "that break the protocol end the connection, and the server is told why",
            arguments: WebSocketViolationTests.refused)
        func violations(name: String, frames: [ServerFrame], code: UInt16) async throws {
            let key = UUID().uuidString
            let bytes = ([.text("before")] + frames).flatMap(\.bytes)
            let socket = try await OpenedWebSocket(WebSocketServer.sending(bytes) + "?key=\(key)")
            #expect(try await socket.text() == "before")
            let closure = try await socket.closure()
            #expect(closure.code == 1006)
            #expect(closure.error?.kind == (code == 1009 ? .messageTooLarge : .protocolViolation))
            #expect(try await OpenedWebSocket("closed?key=\(key)").text() == "\(code)")
        }
    }
#endif
