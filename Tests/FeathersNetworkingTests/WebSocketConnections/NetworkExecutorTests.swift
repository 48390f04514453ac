#if os(Linux)
    import Dispatch
    import FeathersSupport
    import Foundation
    import Testing

    @testable import FeathersNetworking

    @Suite("Tasks on the network thread", .timeLimit(.minutes(10)))
    struct NetworkExecutorTests {
        private let loop: SocketLoop

        init() throws { loop = try SocketLoop.shared() }

        private func run<Success: Sendable>(_ body: @escaping @Sendable () async throws -> Success) async throws -> Success {
            try await Task(executorPreference: loop) { try await body() }.value
        }

        private actor Plain {
            func isOn(_ loop: SocketLoop) -> Bool { loop.isCurrent }
        }

        private actor OnAQueue {
            private static let executor = DiskExecutor(label: "feathers.tests.queue")
            nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }
            func isOn(_ loop: SocketLoop) -> Bool { loop.isCurrent }
        }

        @concurrent private func concurrent() async -> Bool { loop.isCurrent }
        private func nonsending() async -> Bool { loop.isCurrent }
        @MainActor private func onMain() -> Bool { loop.isCurrent }

        @Test("stay there in functions, default actors and child tasks, and after they waited for something elsewhere")
        func stays() async throws {
            try await run {
                #expect(loop.isCurrent)
                #expect(await nonsending())
                #expect(await concurrent())
                #expect(await Plain().isOn(loop))
                async let child = concurrent()
                #expect(await child)
                let grouped = await withTaskGroup(of: Bool.self) { group in
                    group.addTask { loop.isCurrent }
                    return await group.next()
                }
                #expect(grouped == true)
                let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
                DispatchQueue.global().async {
                    continuation.yield(1)
                    continuation.finish()
                }
                for await _ in numbers { #expect(loop.isCurrent) }
                try await Task.sleep(for: .milliseconds(1))
                #expect(loop.isCurrent)
            }
        }

        @Test("leave it for the main actor and for actors with executors of their own, and come back")
        func leavesForActors() async throws {
            try await run {
                #expect(await !onMain())
                #expect(loop.isCurrent)
                #expect(await !OnAQueue().isOn(loop))
                #expect(loop.isCurrent)
                let elsewhere = await withTaskExecutorPreference(globalConcurrentExecutor) { await concurrent() }
                #expect(!elsewhere)
                #expect(loop.isCurrent)
            }
        }

        @Test("leave it in unstructured tasks, unless those prefer it too")
        func leavesInTasks() async throws {
            try await run {
                #expect(await !Task { await concurrent() }.value)
                #expect(await !Task.detached { loop.isCurrent }.value)
                #expect(await Task(executorPreference: loop) { loop.isCurrent }.value)
            }
        }

        @Test("do not leave the main actor for it: isolation comes before preference")
        @MainActor
        func isolation() async {
            await withTaskExecutorPreference(loop) {
                MainActor.assertIsolated()
                #expect(!loop.isCurrent)
            }
            let isOnThread = await withTaskExecutorPreference(loop) { @concurrent in loop.isCurrent }
            #expect(isOnThread)
        }

        @Test("run in the order in which they were enqueued, whatever their priorities")
        func priorities() async throws {
            let order = try await run {
                let order = Locked<[String]>([])
                await withTaskGroup { group in
                    group.addTask(priority: .background) { order.withLock { $0.append("background") } }
                    group.addTask(priority: .high) { order.withLock { $0.append("high") } }
                    group.addTask(priority: .low) { order.withLock { $0.append("low") } }
                }
                return order.withLock(\.self)
            }
            #expect(order == ["background", "high", "low"])
        }

        @Test("let connections have their turn although they yield again and again")
        func fairness() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let hasArrived = Locked(false)
            connection.start { event in if case .message = event { hasArrived.withLock { $0 = true } } }
            let yields = try await run {
                peer.deliver([.text("x")])
                var yields = 0
                while !hasArrived.withLock(\.self) {
                    await Task.yield()
                    yields += 1
                }
                return yields
            }
            #expect(yields <= 10 * SocketLoopThread.jobsPerTurn)
            withExtendedLifetime(connection) {}
        }

        /// A listener whose deadline passes before the tasks of its turn run.
        private final class LateListener: SocketListener {
            let descriptor: Int32? = nil
            private let token: SocketLoop.Token
            private let start: () -> Void
            private let pass: () -> Void

            init(_ token: SocketLoop.Token, start: @escaping () -> Void, pass: @escaping () -> Void) {
                (self.token, self.start, self.pass) = (token, start, pass)
            }

            func woken(on thread: SocketLoopThread) {
                thread.setDeadline(.now, for: token)
                start()
            }

            func deadlinePassed(on thread: SocketLoopThread) {
                thread.detach(token)
                pass()
            }

            func changed(isReadable: Bool, isWritable: Bool, isEnding: Bool, on thread: SocketLoopThread) {}
            func turnEnded(on thread: SocketLoopThread) {}
            func failed(on thread: SocketLoopThread) {}
        }

        @Test("delay the thread's deadlines, which are neither early nor later than the tasks of one turn")
        func deadlines() async throws {
            let steps = Locked<[String]>([])
            let yields = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int, any Error>) in
                let token = loop.newToken()
                loop.send(
                    .attach(token) { [loop] in
                        LateListener(token) {
                            Task(executorPreference: loop) { steps.withLock { $0.append("first task") } }
                            Task(executorPreference: loop) { steps.withLock { $0.append("second task") } }
                            Task(executorPreference: loop) {
                                var yields = 0
                                while steps.withLock(\.last) != "deadline" {
                                    await Task.yield()
                                    yields += 1
                                }
                                ended.resume(returning: yields)
                            }
                        } pass: {
                            steps.withLock { $0.append("deadline") }
                        }
                    })
                loop.send(.wake(token))
            }
            #expect(steps.withLock(\.self) == ["first task", "second task", "deadline"])
            #expect(yields <= SocketLoopThread.jobsPerTurn)
        }

        @Test("read what was delivered before more is, so that no buffer overflows")
        func longReadTurns() async throws {
            let (peer, connection) = try WebSocketPeer.connected()
            let (numbers, continuation) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1024))
            connection.start { event in
                if case .message(.text(let text)) = event, let number = Int(text) { continuation.yield(number) }
            }
            let count = 50_000
            DispatchQueue.global().async { peer.deliver((0..<count).map { .text("\($0)") }) }
            try await run {
                var next = 0
                for await number in numbers {
                    #expect(number == next)
                    next = number + 1
                    if next == count { break }
                }
                #expect(next == count)
            }
            withExtendedLifetime(connection) {}
        }

        @Test("are cancelled from other threads, on which their cancellation handlers run")
        func cancellation() async throws {
            let hasBegun = Promise<Void>()
            let handled = Promise<Bool>()
            let task = Task(executorPreference: loop) {
                try await withTaskCancellationHandler {
                    hasBegun.resolve(())
                    try await Promise<Void>().value()
                } onCancel: {
                    handled.resolve(loop.isCurrent)
                }
            }
            try await hasBegun.value()
            task.cancel()
            #expect(try await !handled.value())
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        private final class Observer: LongJobObserver {
            let durations = AsyncStream.makeStream(of: Duration.self)
            func jobEnded(after duration: Duration) { durations.continuation.yield(duration) }
        }

        @Test("are reported if they hold up the thread, and not if they wait")
        func longJobs() async throws {
            let observer = Observer()
            // A loop of its own: blocking jobs of other tests are reported too.
            let loop = try SocketLoop.start { NetworkThread.start("feathers-long", runsTasks: true, $0) }
            loop.report(to: observer)
            loop.report(to: observer)
            try await Task(executorPreference: loop) {
                // Waiting for as long is not reported.
                try await Task.sleep(for: .milliseconds(2 * SocketLoopThread.longJob))
                usleep(UInt32(3 * SocketLoopThread.longJob) * 1000)
            }.value
            // What is reported first is the job that blocked; once again for the same job would be reported before the next turn ends.
            await Task(executorPreference: loop) {}.value
            observer.durations.continuation.finish()
            let durations = await observer.durations.stream.reduce(into: []) { $0.append($1) }
            #expect(durations.contains { $0 >= .milliseconds(2 * SocketLoopThread.longJob) })
            // A busy machine may hold up other jobs, but nothing is reported twice.
            #expect(Set(durations).count == durations.count)
        }

        @Test("recurse as deeply as on the thread pool")
        func stack() async throws {
            // At least 4 MB of the 8, where half a megabyte would not do.
            @Sendable @inline(never) func depth(_ left: Int) -> Int {
                withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { memory in
                    memory[0] = UInt8(truncatingIfNeeded: left)
                    return left == 0 ? Int(memory[0]) : depth(left - 1) + 1
                }
            }
            #expect(try await run { depth(4000) } == 4000)
        }

        @Test("start processes that do not ignore a broken pipe")
        func brokenPipe() async throws {
            let mask = try await run {
                let (process, output) = (Process(), Pipe())
                process.executableURL = URL(filePath: "/bin/sh")
                process.arguments = ["-c", "grep SigBlk /proc/self/status"]
                process.standardOutput = output
                try process.run()
                let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                return text.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0, radix: 16) }
            }
            #expect(try #require(mask) & 1 << (UInt64(SIGPIPE) - 1) == 0)
        }

        @Test("outlive the connections that the thread served")
        func outlivesConnections() async throws {
            let isClosed = Promise<Void>()
            do {
                let (peer, connection) = try WebSocketPeer.connected()
                connection.start { if case .closed = $0 { isClosed.resolve(()) } }
                withExtendedLifetime(peer) {}
            }
            try await isClosed.value()
            #expect(try await run { await concurrent() })
        }

        @Test("are not accepted by a loop without a thread: there is none")
        func noThread() {
            #expect(throws: WebSocketError.self) { _ = try SocketLoop.start { _ in false } }
        }

        @Test("wake the thread from many others at once, and none is lost")
        func wakeUps() async throws {
            let count = 20_000
            let total = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var sum = 0
                        // One at a time, so that the thread falls asleep in between.
                        for _ in 0..<count / 8 { sum += await Task(executorPreference: loop) { 1 }.value }
                        return sum
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(total == count)
        }
    }
#endif
