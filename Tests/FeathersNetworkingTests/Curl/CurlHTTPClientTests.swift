#if os(Linux)
    import FeathersSupport
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("The libcurl client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct CurlHTTPClientTests {
        @Test("is what Linux gets unless told otherwise")
        func platformDefault() throws {
            #expect(PlatformHTTPClient.make() is CurlHTTPClient)
            #expect(try Libcurl.version.get() >= 0x07_44_00)
        }

        @Test("leaves neither thread nor handle behind when it is dropped")
        func deinitialized() async throws {
            let script = try await ServerScript(ScriptedResponse(body: "ok"))
            weak var driver: CurlDriver?
            do {
                let client = try CurlHTTPClient()
                driver = client.driver
                for _ in 0..<3 { #expect(try await client.execute(HTTPRequest(url: script.url)).status == 200) }
            }
            // The thread holds the driver. Every look costs a round trip; the suite's time limit is the other outcome.
            let other = try CurlHTTPClient()
            while driver != nil { _ = try await other.execute(HTTPRequest(url: script.url)) }
        }

        @Test("keeps its sockets from child processes, in which a connection would stay open after it was closed")
        func inherited() async throws {
            // With a port that no other test connects to.
            let proxy = try await FaultProxy(to: TestBackend.url())
            let client = try CurlHTTPClient()
            _ = try await client.execute(HTTPRequest(url: proxy.url))
            let socket = try await CurlWebSocketConnector().connect(
                WebSocketRequest(
                    url: proxy.url.appending(path: "socket.io/").appending(queryItems: [
                        URLQueryItem(name: "EIO", value: "4"), URLQueryItem(name: "transport", value: "websocket"),
                    ])))
            let port = try #require(proxy.url.port)
            let sockets = (0..<4096).filter { Self.peerPort(of: $0) == port }
            #expect(sockets.count == 2 && sockets.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            socket.close(code: 1000, reason: "")
            try await proxy.close()
        }

        private static func peerPort(of descriptor: Int32) -> Int? {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
            }
            return result == 0 && address.sin_family == AF_INET ? Int(UInt16(bigEndian: address.sin_port)) : nil
        }

        @Test("starts nothing before its first request")
        func nothingStarted() async throws {
            weak var driver: CurlDriver?
            do { driver = try CurlHTTPClient().driver }
            #expect(driver == nil)
        }

        @Test("does not follow a redirect once all requests were ended")
        func redirectAfterCancellingAll() async throws {
            let client = try CurlHTTPClient()
            let url = try #require(URL(string: "http://127.0.0.1:1/"))
            let round = client.round
            client.cancelAll()
            // The exchange that follows a redirect belongs to the caller's request, which began before.
            let next = CurlExchange(HTTPRequest(url: url), deadline: nil, streams: nil, round: round)
            client.driver.start(next)
            let error = try await #require(throws: HTTPClientError.self) { _ = try await next.response.value() }
            #expect(error.kind == .closed && error.delivery == .neverSent)
        }

        @Test(
            "never sends a second time by itself what may have been executed", arguments: ["POST", "PATCH", "LOCK"],
            [nil, [1]] as [[UInt8]?])
        func notRepeated(method: String, body: [UInt8]?) async throws {
            let script = try await ServerScript(ScriptedResponse(body: "ok"), .raw(""))
            let client = try CurlHTTPClient()
            // The kept connection is what libcurl would blame.
            _ = try await client.execute(HTTPRequest(url: script.url, timeout: .seconds(10)))
            let error = try await client.failure(
                HTTPRequest(method: method, url: script.url, body: body, timeout: .seconds(10)))
            #expect(error.kind == .connectionLost)
            #expect(error.delivery == .mayHaveExecuted)
            #expect(try await script.requests().count { $0.line.hasPrefix(method) } == 1)
        }

        @Test("goes through a proxy where told so, except to the exceptions")
        func proxy() async throws {
            let script = try await ServerScript(ScriptedResponse(body: "proxied"))
            let address = "http://127.0.0.1:\(script.url.port ?? 0)"
            let target = try #require(URL(string: "http://nowhere.invalid\(script.url.path())"))
            let proxied = try CurlHTTPClient(proxy: .url(address))
            #expect(
                try await proxied.execute(HTTPRequest(url: target, timeout: .seconds(10))).body == Array("proxied".utf8)
            )
            #expect(try await script.requests().map(\.line) == ["GET \(target.absoluteString) HTTP/1.1"])

            let excepted = try CurlHTTPClient(proxy: .url(address, exceptions: ["invalid"]))
            #expect(try await excepted.failure(HTTPRequest(url: target, timeout: .seconds(10))).kind == .hostNotFound)
            let direct = try CurlHTTPClient(proxy: .none)
            #expect(try await direct.failure(HTTPRequest(url: target, timeout: .seconds(10))).kind == .hostNotFound)
        }

        @Test(
            "refuses an answer whose length is not one number",
            arguments: ["3\r\nContent-Length: 4", "3, 4", "3abc", "99999999999999999999"])
        func invalidLength(length: String) async throws {
            let client = try CurlHTTPClient()
            let script = try await ServerScript(.raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabcd"))
            let error = try await client.failure(HTTPRequest(url: script.url, timeout: .seconds(20)))
            #expect(error.kind == .badResponse && error.delivery == .mayHaveExecuted)
        }

        @Test("gives up connecting in time, whatever the request allows")
        func connectTimeout() async throws {
            // The script server waits for the end of a head, which a TLS handshake does not have.
            let script = try await ServerScript(ScriptedResponse())
            let text = script.url.absoluteString.replacingOccurrences(of: "http:", with: "https:")
            let client = try CurlHTTPClient(connectTimeout: .milliseconds(200))
            let error = try await client.failure(HTTPRequest(url: try #require(URL(string: text))))
            #expect(error.kind == .timeout)
            #expect(error.delivery == .neverSent)
        }

        @Test("keeps to its limit of connections, and deadlines count for those who wait")
        func connectionLimit() async throws {
            let script = try await ServerScript(.never)
            let client = try CurlHTTPClient(maximumConnectionsPerHost: 2)
            let holders = (0..<2).map { _ in Task { try await client.execute(HTTPRequest(url: script.url)) } }
            _ = try await script.requests(count: 2)
            for _ in 0..<2 {
                let error = try await client.failure(HTTPRequest(url: script.url, timeout: .milliseconds(100)))
                #expect(error.kind == .timeout)
                #expect(error.delivery == .neverSent)
            }
            for holder in holders { holder.cancel() }
            #expect(try await script.requests(count: 2, aborted: 2).count == 2)
        }
    }
#endif
