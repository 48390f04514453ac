#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite(
        "What a WebSocket leaves behind", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)),
        .serialized)
    struct WebSocketLifetimeTests {
        /// How many descriptors of this process lead to one of these ports.
        private static func connections(to url: URL) -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return names.compactMap { Int32($0) }.count { descriptor in
                var address = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let result = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
                }
                return result == 0 && Int(UInt16(bigEndian: address.sin_port)) == url.port
            }
        }

        /// How many threads are dialling.
        private static var dialling: Int {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return threads.count { thread in
                (try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8))?.hasPrefix(
                    "feathers-dial") ?? false
            }
        }

        /// Looks again after every round trip to the server; the suite's time limit is the other outcome.
        private static func wait(until isDone: () -> Bool) async throws {
            let pause = try await OpenedWebSocket("echo")
            while !isDone() {
                try pause.connection.sendNow(.text(""))
                _ = try await pause.message()
            }
        }

        @Test("is nothing: two hundred at once, however they end")
        func descriptors() async throws {
            // A server of its own: other suites' connections lead elsewhere.
            let backend = TestBackend(variables: [:])
            let server = try await backend.webSocketServer()
            let url = server.url("echo")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let socket = OpenedWebSocket(
                            try await TestedConnector.make().connect(WebSocketRequest(url: url)))
                        try socket.connection.sendNow(.text("\(number)"))
                        #expect(try await socket.text() == "\(number)")
                        if number % 2 == 0 {
                            socket.connection.close(code: 1000, reason: "")
                            _ = try await socket.closure()
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await Self.wait { Self.connections(to: url) == 0 && Self.dialling == 0 }
        }

        @Test("is nothing either after attempts that were cancelled, refused or timed out")
        func attempts() async throws {
            let backend = TestBackend(variables: [:])
            let server = try await backend.webSocketServer()
            let refusal = server.url(WebSocketServer.answering(Array("HTTP/1.1 400 No\r\n\r\n".utf8)))
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let url = [server.url("stall"), refusal, server.secureURL("echo")][number % 3]
                        let attempt = Task {
                            await errorOfConnecting(to: url, timeout: .milliseconds(500), by: TestedConnector.make())
                        }
                        if number % 2 == 0 {
                            for _ in 0..<number { await Task.yield() }
                            attempt.cancel()
                        }
                        #expect(await attempt.value != nil)
                    }
                }
            }
            try await Self.wait {
                Self.connections(to: refusal) + Self.connections(to: server.secureURL("")) == 0 && Self.dialling == 0
            }
        }

        @Test("is no owner: the handler is let go of with the last event")
        func handler() async throws {
            final class Owner: Sendable {}
            let socket = try await TestedConnector.make().connect(
                WebSocketRequest(url: TestBackend.webSocketServer().url("echo")))
            weak var owner: Owner?
            let (closed, continuation) = AsyncStream.makeStream(of: Void.self)
            do {
                let strong = Owner()
                owner = strong
                socket.start { event in
                    withExtendedLifetime(strong) {}
                    if case .closed = event { continuation.finish() }
                }
            }
            #expect(owner != nil)
            socket.close(code: 1000, reason: "")
            for await _ in closed {}
            try await Self.wait { owner == nil }
        }
    }
#endif
