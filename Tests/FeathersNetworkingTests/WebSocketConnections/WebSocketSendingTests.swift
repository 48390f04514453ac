#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite(
        "Sending to a server that does not keep up", .inTurn, .enabled(if: !TestBackend.isSkipped),
        .timeLimit(.minutes(10)))
    struct WebSocketSendingTests {
        private let key = UUID().uuidString
        private let megabyte = WebSocketMessage.binary(.init(repeating: 7, count: 1 << 20))

        /// Lets the slow server read.
        private func release() async throws {
            let other = try await OpenedWebSocket("release?key=\(key)")
            other.connection.close(code: 1000, reason: "")
            _ = try await other.closure()
        }

        @Test("at once fails when the queue is full, and nothing that was queued is lost")
        func queueFull() async throws {
            let socket = try await OpenedWebSocket("slow?key=\(key)")
            var sent = 0
            let error = #expect(throws: WebSocketError.self) {
                while sent < 100 {
                    try socket.connection.sendNow(megabyte)
                    sent += 1
                }
            }
            #expect(error?.kind == .queueFull)
            #expect(sent >= 16 && sent < 40)
            try await release()
            try socket.connection.sendNow(.text("total"))
            #expect(try await socket.text() == "\(sent << 20 + 5)")
        }

        @Test("does not keep a closing connection from ending in time when the queue is full")
        func closing() async throws {
            let socket = try await OpenedWebSocket("slow?key=\(key)", closingTimeout: .milliseconds(100))
            while (try? socket.connection.sendNow(megabyte)) != nil {}
            socket.connection.close(code: 1000, reason: "")
            #expect(try await socket.closure().error?.kind == .timeout)
        }

        @Test("from many tasks keeps each one's order", arguments: [false, true])
        func order(isLarge: Bool) async throws {
            let socket = try await OpenedWebSocket("echo")
            let (callers, count) = (16, isLarge ? 20 : 300)
            let filler = String(repeating: "x", count: isLarge ? 40_000 : 10)
            let receiving = Task {
                var next = [Int](repeating: 0, count: callers)
                for _ in 0..<(callers * count) {
                    let parts = try await socket.text().split(separator: " ")
                    let (caller, number) = (try #require(Int(parts[0])), try #require(Int(parts[1])))
                    #expect(next[caller] == number)
                    next[caller] = number + 1
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        for number in 0..<count {
                            let message = WebSocketMessage.text("\(caller) \(number) \(filler)")
                            try socket.connection.sendNow(message)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await receiving.value
        }
    }
#endif
