import Foundation
import TestBackend
import Testing

@testable import FeathersNetworking

@Suite("WebSockets on URLSession", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct URLSessionWebSocketTests {
    /// nil where Foundation has no WebSockets, which must be said clearly, and must not be so where they were asked
    /// for.
    private func open(_ path: String) async throws -> OpenedWebSocket? {
        let url = try await TestBackend.webSocketServer().url(path)
        do {
            return OpenedWebSocket(
                try await URLSessionWebSocketConnector().connect(WebSocketRequest(url: url, timeout: .seconds(5))))
        } catch let error as WebSocketError where error.kind == .unsupported {
            #if os(Linux)
                if Environment.choosesURLSessionWebSockets { throw error }
                return nil
            #else
                throw error
            #endif
        }
    }

    @Test("carry messages, or say that they are not supported")
    func echo() async throws {
        guard let socket = try await open("echo") else { return }
        for number in 0..<100 { try socket.connection.sendNow(.text("\(number)")) }
        for number in 0..<100 { #expect(try await socket.text() == "\(number)") }
        try socket.connection.sendNow(.binary([0, 255]))
        #expect(try await socket.message() == .binary([0, 255]))
        socket.connection.close(code: 1000, reason: "")
        #expect(try await socket.closure().code == 1000)
        #expect(await socket.next() == nil)
    }

    @Test("tell the server's close code")
    func closeCode() async throws {
        let frames = ServerFrame.text("last").bytes + ServerFrame.close(4001, Array("why".utf8)).bytes
        guard let socket = try await open(WebSocketServer.sending(frames)) else { return }
        #expect(try await socket.text() == "last")
        #expect(try await socket.closure().code == 4001)
    }

    @Test("name what cannot be connected to, or say that they are not supported")
    func unreachable() async throws {
        let url = try #require(URL(string: "ws://127.0.0.1:1/"))
        let error = try #require(
            await errorOfConnecting(to: url, by: URLSessionWebSocketConnector()) as? WebSocketError)
        #expect(error.kind == .cannotConnect || error.kind == .unsupported)
        let odd = try #require(URL(string: "ftp://h/"))
        #expect(
            (await errorOfConnecting(to: odd, by: URLSessionWebSocketConnector()) as? WebSocketError)?.kind
                == .invalidURL)
    }

    @Test("say with which status the server refused, or that they are not supported", arguments: [200, 302, 401, 503])
    func refusal(status: Int) async throws {
        let answer = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
        let url = try await TestBackend.webSocketServer().url(WebSocketServer.answering(Array(answer.utf8)))
        let error = try #require(
            await errorOfConnecting(to: url, by: URLSessionWebSocketConnector()) as? WebSocketError)
        #expect(error.kind == .refused(status: status) || error.kind == .unsupported)
    }

    @Test("are cancelled while opening")
    func cancellation() async throws {
        let url = try await TestBackend.webSocketServer().url("stall")
        for round in 0..<10 {
            let task = Task { await errorOfConnecting(to: url, by: URLSessionWebSocketConnector()) }
            for _ in 0..<(round * 10) { await Task.yield() }
            task.cancel()
            let error = await task.value
            #expect(error is CancellationError || (error as? WebSocketError)?.kind == .unsupported)
        }
    }
}
