import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(
    "Responses that are read while they arrive", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10))
)
struct HTTPStreamTests {
    /// What the script server's `__source` sends.
    private static func sum(of count: Int) -> Int { (0..<count).reduce(0) { $0 + $1 * 31 % 251 } }

    @Test(
        "A slow reader slows the exchange, which buffers no more than the limit and what is under way",
        arguments: TestedClient.cancellableAnywhere)
    func backPressure(tested: TestedClient) async throws {
        let client = try tested.make()
        let count = 6 << 20
        let source = try await TestBackend.scriptServer().appending(path: "__source/\(count)")
        let echo = try await ServerScript(ScriptedResponse(body: "ok"))
        let pipe = HTTPBodyPipe(limit: 32 << 10)
        let response = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: source), pipe: pipe)) }
        #expect(try await pipe.head().status == 200)
        var (received, largest, total) = (0, 0, 0)
        while let piece = try await pipe.next() {
            for byte in piece { total += Int(byte) }
            received += piece.count
            largest = max(largest, piece.count)
            // Slower than the network: each piece waits for an exchange of its own.
            if received < 4 << 20 { _ = try await TestControl.answer(to: HTTPRequest(url: echo.url)) }
        }
        #expect(received == count)
        #expect(total == Self.sum(of: count))
        #expect(largest <= 32 << 10 + 64 << 10)
        #expect(try await response.value.body.isEmpty)
    }

    @Test(
        "A response is read before it ends, and leaving ends the exchange", arguments: TestedClient.cancellableAnywhere)
    func leaving(tested: TestedClient) async throws {
        let client = try tested.make()
        let source = try await TestBackend.scriptServer().appending(path: "__source/1000").appending(queryItems: [
            URLQueryItem(name: "stallAfter", value: "10")
        ])
        let pipe = HTTPBodyPipe()
        let exchange = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: source), pipe: pipe)) }
        var first: [UInt8] = []
        while first.count < 10, let piece = try await pipe.next() { first += piece }
        #expect(first.count == 10)
        exchange.cancel()
        await #expect(throws: CancellationError.self) { try await exchange.value }
        await #expect(throws: CancellationError.self) { try await pipe.next() }
    }

    @Test("A slow reader can leave", arguments: TestedClient.cancellableAnywhere)
    func leavingWhilePaused(tested: TestedClient) async throws {
        let client = try tested.make()
        let source = try await TestBackend.scriptServer().appending(path: "__source/\(64 << 20)")
        let pipe = HTTPBodyPipe(limit: 1024)
        let exchange = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: source), pipe: pipe)) }
        _ = try await pipe.head()
        // The exchange pauses as soon as a piece is there.
        _ = try await pipe.next()
        exchange.cancel()
        await #expect(throws: CancellationError.self) { try await exchange.value }
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        #expect(try await client.execute(HTTPRequest(url: script.url)).status == 200)
    }

    @Test("A cut connection throws after what has arrived", arguments: TestedClient.all)
    func cut(tested: TestedClient) async throws {
        let script = try await ServerScript(ScriptedResponse(body: "0123456789").with { $0.closeAfterBytes = 4 })
        let pipe = HTTPBodyPipe()
        let client = try tested.make()
        let response = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: script.url), pipe: pipe)) }
        var body: [UInt8] = []
        await #expect {
            while let piece = try await pipe.next() { body += piece }
        } throws: {
            ($0 as? HTTPClientError)?.kind == .connectionLost
        }
        #expect(body == Array("0123".utf8))
        await #expect(throws: HTTPClientError.self) { try await response.value }
    }

    @Test("Other statuses come back whole, with their bodies", arguments: TestedClient.all)
    func refusal(tested: TestedClient) async throws {
        let script = try await ServerScript(ScriptedResponse(status: 404, body: "nothing"))
        let pipe = HTTPBodyPipe()
        let client = try tested.make()
        let response = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: script.url), pipe: pipe)) }
        #expect(try await pipe.head().body == Array("nothing".utf8))
        #expect(try await pipe.next() == nil)
        #expect(try await response.value.status == 404)
    }

    @Test("Redirects are followed before the body is read", arguments: TestedClient.all)
    func redirect(tested: TestedClient) async throws {
        let script = try await ServerScript { url in
            [
                ScriptedResponse(status: 302, headers: [["Location", url.absoluteString + "/next"]], body: "moved"),
                ScriptedResponse(body: "here"),
            ]
        }
        let pipe = HTTPBodyPipe()
        let client = try tested.make()
        let response = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: script.url), pipe: pipe)) }
        #expect(try await pipe.next() == Array("here".utf8))
        #expect(try await response.value.status == 200)
    }

    @Test("Ending all exchanges ends streams too", arguments: TestedClient.all)
    func endingAll(tested: TestedClient) async throws {
        let client = try tested.make()
        let source = try await TestBackend.scriptServer().appending(path: "__source/1000").appending(queryItems: [
            URLQueryItem(name: "stallAfter", value: "10")
        ])
        let pipe = HTTPBodyPipe()
        let response = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: source), pipe: pipe)) }
        _ = try await pipe.head()
        client.cancelAll()
        await #expect { try await response.value } throws: { ($0 as? HTTPClientError)?.kind == .closed }
        await #expect { while try await pipe.next() != nil {} } throws: { ($0 as? HTTPClientError)?.kind == .closed }
    }

    @Test("Silence for longer than allowed ends the exchange", arguments: TestedClient.all)
    func stall(tested: TestedClient) async throws {
        let script = try await ServerScript(.never)
        let pipe = HTTPBodyPipe()
        let client = try tested.make()
        let response = Task {
            try await client.stream(
                HTTPTransfer(HTTPRequest(url: script.url), pipe: pipe, stallTimeout: .milliseconds(200)))
        }
        await #expect { try await pipe.head() } throws: { ($0 as? HTTPClientError)?.kind == .timeout }
        await #expect(throws: HTTPClientError.self) { try await response.value }
    }

    @Test("Silence without a limit does not end a stream, whatever time URLSession waits for requests")
    func silence() async throws {
        struct Silent: Error {}
        let configuration = URLSessionHTTPClient.defaultConfiguration
        configuration.timeoutIntervalForRequest = 1
        let client = URLSessionHTTPClient(configuration: configuration)
        let source = try await TestBackend.scriptServer().appending(path: "__source/1000").appending(queryItems: [
            URLQueryItem(name: "stallAfter", value: "10")
        ])
        let pipe = HTTPBodyPipe()
        let response = Task { try await client.stream(HTTPTransfer(HTTPRequest(url: source), pipe: pipe)) }
        await #expect(throws: Silent.self) {
            try await RelativeClock(ContinuousClock()).run(atMost: .seconds(3), orThrow: Silent()) {
                while try await pipe.next() != nil {}
            }
        }
        response.cancel()
        _ = try? await response.value
    }

    #if os(Linux)
        @Test("URLSession on Linux cannot slow a server down: it fails rather than buffering without a limit")
        func unread() async throws {
            let source = try await TestBackend.scriptServer().appending(path: "__source/\(64 << 20)")
            let pipe = HTTPBodyPipe()
            let response = Task {
                try await URLSessionHTTPClient().stream(HTTPTransfer(HTTPRequest(url: source), pipe: pipe))
            }
            _ = try await pipe.head()
            await #expect { try await response.value } throws: { ($0 as? HTTPClientError)?.kind == .responseTooLarge }
        }
    #endif
}
