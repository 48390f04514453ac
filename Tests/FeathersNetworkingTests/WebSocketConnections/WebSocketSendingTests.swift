#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("Sending to a server that does not keep up", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
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
            try await socket.connection.send(.text("total"))
            #expect(try await socket.text() == "\(sent << 20 + 5)")
        }

        @Test("waits for room, and goes on when there is some")
        func waiting() async throws {
            let socket = try await OpenedWebSocket("slow?key=\(key)")
            let sending = Task {
                for _ in 0..<40 { try await socket.connection.send(megabyte) }
                try await socket.connection.send(.text("total"))
            }
            try await release()
            try await sending.value
            #expect(try await socket.text() == "\(40 << 20 + 5)")
        }

        @Test("is cancelled while it waits, without a trace on the wire")
        func cancellation() async throws {
            let socket = try await OpenedWebSocket("slow?key=\(key)")
            while (try? socket.connection.sendNow(.binary(.init(repeating: 1, count: 100_000)))) != nil {}
            let waiting = (0..<10).map { _ in Task { try await socket.connection.send(.text("total")) } }
            for _ in 0..<100 { await Task.yield() }
            for task in waiting { task.cancel() }
            for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
            try await release()
            try await socket.connection.send(.text("total!"))
            // One answer: to the one message that was not cancelled.
            #expect(try await socket.text().isEmpty == false)
            socket.connection.close(code: 1000, reason: "")
            #expect(try await socket.closure().code == 1000)
        }

        @Test("ends with the connection while it waits")
        func closing() async throws {
            let socket = try await OpenedWebSocket("slow?key=\(key)", closingTimeout: .milliseconds(100))
            while (try? socket.connection.sendNow(megabyte)) != nil {}
            let waiting = Task { try await socket.connection.send(megabyte) }
            for _ in 0..<20 { await Task.yield() }
            socket.connection.close(code: 1000, reason: "")
            await #expect(throws: WebSocketError.self) { try await waiting.value }
            #expect(try await socket.closure().error?.kind == .timeout)
        }

        @Test("from many tasks keeps each one's order", arguments: [false, true])
        func order(isLarge: Bool) async throws {
            let socket = try await OpenedWebSocket("echo")
            let (callers, count) = (16, isLarge ? 30 : 300)
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
                            if number % 3 == 0, !isLarge {
                                try socket.connection.sendNow(message)
                            } else {
                                try await socket.connection.send(message)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await receiving.value
        }
    }
#endif
