#if os(Linux)
    import FeathersSupport
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite(
        "The connections of the libcurl client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(5)))
    struct CurlPoolTests {
        @Test("refuses a request that would wait behind too many others, and says that it was never sent")
        func fullQueue() async throws {
            let script = try await ServerScript(.never)
            let client = try CurlHTTPClient(maximumConnectionsPerHost: 1, maximumWaitingRequestsPerHost: 2)
            await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try await client.execute(HTTPRequest(url: script.url)) } }
                let error = await #expect(throws: HTTPClientError.self) { try await group.next() }
                #expect(error?.kind == .overloaded && error?.delivery == .neverSent)
                #expect(error?.message == "2 requests already wait for a connection")
                #expect(client.waitingRequests == 2)
                group.cancelAll()
            }
            // Those that were cancelled have left the queue.
            let error = try await client.failure(HTTPRequest(url: script.url, timeout: .milliseconds(1)))
            #expect(error.kind == .timeout)
        }

        @Test("lets those that wait go on, in order, over the connections that it has")
        func turns() async throws {
            let script = try await ServerScript(ScriptedResponse(body: "ok"))
            let client = try CurlHTTPClient(maximumConnectionsPerHost: 2)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await client.execute(HTTPRequest(url: script.url)).status } }
                for try await status in group { #expect(status == 200) }
            }
            let connections = try await Set(script.requests(count: 40).map(\.connection))
            #expect(connections.count <= 2)
        }

        @Test("goes on when the requests with connections are cancelled, time out or cannot begin")
        func endedTurns() async throws {
            let script = try await ServerScript(.never)
            let client = try CurlHTTPClient(maximumConnectionsPerHost: 1)
            let holder = Task { try await client.execute(HTTPRequest(url: script.url)) }
            _ = try await script.requests(count: 1)
            let unreadable = HTTPTransfer(
                HTTPRequest(method: "POST", url: script.url), body: HTTPBody(file: URL(filePath: "/nowhere")))
            let failed = Task { try await client.execute(unreadable) }
            let last = Task { try await client.execute(HTTPRequest(url: script.url)) }
            holder.cancel()
            await #expect(throws: HTTPClientError.self) { _ = try await failed.value }
            #expect(try await script.requests(count: 2, aborted: 1).count == 2)
            last.cancel()
        }

        @Test("ends requests that wait when all are cancelled, never sent")
        func cancelledWhileWaiting() async throws {
            let script = try await ServerScript(.never)
            let client = try CurlHTTPClient(maximumConnectionsPerHost: 1)
            let holder = Task { try await client.execute(HTTPRequest(url: script.url)) }
            _ = try await script.requests(count: 1)
            let waiting = CurlExchange(
                HTTPRequest(url: script.url), deadline: nil, streams: nil, round: client.round)
            client.driver.start(waiting)
            // A refusal shows that the driver has come to what was started before it.
            client.cancelAll()
            let error = try await #require(throws: HTTPClientError.self) { _ = try await waiting.response.value() }
            #expect(error.kind == .closed && error.delivery == .neverSent)
            await #expect(throws: HTTPClientError.self) { _ = try await holder.value }
            #expect(try await client.failure(HTTPRequest(url: script.url, timeout: .milliseconds(1))).kind == .timeout)
        }

        @Test(
            "uses no connection for a write that the server may be about to close",
            arguments: [("timeout=1", 2), ("timeout=5, max=100", 1)])
        func announcedLimit(field: String, connections: Int) async throws {
            let script = try await ServerScript(ScriptedResponse(headers: [["Keep-Alive", field]], body: "ok"))
            let client = try CurlHTTPClient()
            for _ in 0..<2 {
                let request = HTTPRequest(method: "POST", url: script.url, body: [1], timeout: .seconds(10))
                #expect(try await client.execute(request).status == 200)
            }
            #expect(try await Set(script.requests(count: 2).map(\.connection)).count == connections)
        }

        @Test("opens a new connection after one was idle for too long, or is too old")
        func limitsOfConnections() async throws {
            let pause = try await ServerScript(ScriptedResponse().with { $0.delayMs = 2100 })
            let other = try CurlHTTPClient()
            let script = try await ServerScript(ScriptedResponse(body: "ok"))
            for client in [
                try CurlHTTPClient(idleTimeout: .seconds(1), maximumConnectionAge: nil),
                try CurlHTTPClient(maximumConnectionAge: .seconds(1)), try CurlHTTPClient(),
            ] {
                _ = try await client.execute(HTTPRequest(url: script.url))
                _ = try await other.execute(HTTPRequest(url: pause.url))
                _ = try await client.execute(HTTPRequest(url: script.url))
            }
            let connections = try await script.requests(count: 6).map(\.connection)
            #expect(connections[0] != connections[1])
            #expect(connections[2] != connections[3])
            #expect(connections[4] == connections[5])
        }

        /// Of all calls of a size: memory and processor time a call, and how late the last one ended.
        private static func overload(_ count: Int) async throws -> (bytes: Int, nanoseconds: Int, late: Duration) {
            let script = try await ServerScript(.never)
            let client = try CurlHTTPClient(maximumConnectionsPerHost: 16)
            let timeout = Duration.seconds(3)
            let (memory, processor) = (try #require(ProcessMemory.current), clock())
            let (late, peak) = try await withThrowingTaskGroup(of: Duration.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let start = ContinuousClock.now
                        let error = try await client.failure(HTTPRequest(url: script.url, timeout: timeout))
                        #expect(error.kind == .timeout)
                        return ContinuousClock.now - start - timeout
                    }
                }
                // Ends like those that wait, which are all there by then.
                _ = try await group.next()
                let peak = try #require(ProcessMemory.current)
                return (try await group.reduce(.zero, max), peak)
            }
            let bytes = (peak - memory) / count
            return (bytes, Int(clock() - processor) * 1000 / count, late)
        }

        @Test(
            "costs the same for each of any number of waiting requests, and ends them in time",
            .enabled(if: LargeTransfers.areWanted))
        func overload() async throws {
            _ = try await Self.overload(1_000)
            let few = try await Self.overload(1_000)
            let many = try await Self.overload(20_000)
            print("a waiting request, of 1,000: \(few), of 20,000: \(many)")
            #expect(many.nanoseconds < 2 * few.nanoseconds)
            // An optimized build takes less of everything.
            #expect(many.bytes < 16_384)
            #expect(many.late < .seconds(1))
        }
    }
#endif
