#if os(Linux)
    import FeathersSupport
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite(
        "Clients that nobody configured", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(5)))
    struct SharedClientTests {
        private func client() throws -> CurlHTTPClient { try #require(PlatformHTTPClient.make() as? CurlHTTPClient) }

        @Test("share a thread and the connections, and each is closed by itself")
        func connections() async throws {
            let script = try await ServerScript(ScriptedResponse(body: "ok"))
            let (first, second) = (try client(), try client())
            #expect(first.driver === second.driver)
            for client in [first, second] { _ = try await client.execute(HTTPRequest(url: script.url)) }
            first.close()
            #expect(try await first.failure(HTTPRequest(url: script.url)).kind == .closed)
            #expect(try await second.execute(HTTPRequest(url: script.url)).status == 200)
        }

        @Test("end only their own requests, and remain usable", arguments: [true, false])
        func cancelAll(closes: Bool) async throws {
            let script = try await ServerScript(.never, .never, ScriptedResponse(body: "ok"))
            let (first, second) = (try client(), try client())
            let ended = Task { try await first.execute(HTTPRequest(url: script.url)) }
            let kept = Task { try await second.execute(HTTPRequest(url: script.url)) }
            _ = try await script.requests(count: 2)
            if closes { first.close() } else { first.cancelAll() }
            let error = await #expect(throws: HTTPClientError.self) { try await ended.value }
            #expect(error?.kind == .closed && error?.delivery == .mayHaveExecuted)
            #expect(try await script.requests(count: 2, aborted: 1).count == 2)
            #expect(try await second.execute(HTTPRequest(url: script.url)).status == 200)
            second.cancelAll()
            await #expect(throws: HTTPClientError.self) { try await kept.value }
            if !closes { #expect(try await first.execute(HTTPRequest(url: script.url)).status == 200) }
        }

        @Test("have event streams that keep no call waiting")
        func eventStreams() async throws {
            let script = try await ServerScript(.never, .never, ScriptedResponse(body: "ok"))
            let client = try CurlHTTPClient(maximumConnectionsPerHost: 1)
            let streams = (0..<2).map { _ in
                Task {
                    try await client.execute(
                        HTTPTransfer(HTTPRequest(url: script.url), pipe: HTTPBodyPipe(), keepAlive: .seconds(15)))
                }
            }
            _ = try await script.requests(count: 2)
            #expect(try await client.execute(HTTPRequest(url: script.url, timeout: .seconds(20))).status == 200)
            client.cancelAll()
            for stream in streams { await #expect(throws: HTTPClientError.self) { try await stream.value } }
        }
    }
#endif
