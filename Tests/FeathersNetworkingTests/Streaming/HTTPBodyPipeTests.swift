#if os(Linux)
    import FeathersSupport
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("Bodies that are passed on where they arrive", .timeLimit(.minutes(10)))
    struct HTTPBodyPipeTests {
        private struct Refusal: Error {}

        private func write(_ text: String, into pipe: HTTPBodyPipe) -> Bool {
            Array(text.utf8).withUnsafeBytes { pipe.write($0) }
        }

        private func end(_ pipe: HTTPBodyPipe) {
            pipe.end(
                .success(
                    HTTPResponse(
                        status: 200, headers: HTTPHeaders(), body: [], url: URL(string: "http://sample.test/")!)))
        }

        @Test("Half a million pieces come in order, on a thread with a small stack and while the reader falls behind")
        func order() async throws {
            let pipe = HTTPBodyPipe(limit: 256)
            let (resumed, count) = (DispatchSemaphore(value: 0), 500_000)
            pipe.open(
                HTTPResponse(status: 200, headers: HTTPHeaders(), body: [], url: URL(string: "http://sample.test/")!)
            ) {
                resumed.signal()
            }
            let isStarted = NetworkThread.start("feathers-test") {
                for index in 0..<count {
                    let isFull = withUnsafeBytes(of: UInt32(index)) { pipe.write($0) }
                    if isFull { resumed.wait() }
                }
                end(pipe)
            }
            try #require(isStarted)
            let received = Locked((count: UInt32(0), inOrder: true, passedOn: 0))
            try await pipe.forEach { bytes in
                received.withLock { received in
                    if bytes.count == 4 { received.passedOn += 1 }
                    for offset in stride(from: 0, to: bytes.count, by: 4) {
                        if bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) != received.count {
                            received.inOrder = false
                        }
                        received.count += 1
                    }
                }
            }
            let result = received.withLock { $0 }
            #expect(result.count == UInt32(count) && result.inOrder)
            // Once nothing is buffered, every piece is passed on by itself.
            #expect(result.passedOn > 0)
        }

        @Test("An error of the receiver is thrown to the reader, and nothing is received after it")
        func refusal() async throws {
            let pipe = HTTPBodyPipe(limit: 256)
            let (resumed, written) = (DispatchSemaphore(value: 0), Promise<Void>())
            pipe.open(
                HTTPResponse(status: 200, headers: HTTPHeaders(), body: [], url: URL(string: "http://sample.test/")!)
            ) {
                resumed.signal()
            }
            let isStarted = NetworkThread.start("feathers-test") {
                for _ in 0..<10_000 where write("a", into: pipe) { resumed.wait() }
                _ = write("stop", into: pipe)
                _ = write("b", into: pipe)
                written.resolve(())
            }
            try #require(isStarted)
            let isRefused = Locked(false)
            let late = Locked(0)
            await #expect(throws: Refusal.self) {
                try await pipe.forEach { bytes in
                    if isRefused.withLock({ $0 }) { late.withLock { $0 += 1 } }
                    guard bytes.contains(UInt8(ascii: "p")) else { return }
                    isRefused.withLock { $0 = true }
                    throw Refusal()
                }
            }
            try await written.value()
            #expect(late.withLock { $0 } == 0)
        }

        @Test("A cancelled reader receives nothing more, and later pieces wait for the next one")
        func cancellation() async throws {
            let pipe = HTTPBodyPipe()
            let (arrived, calls) = (Promise<Void>(), Locked(0))
            let reader = Task {
                try await pipe.forEach { _ in
                    calls.withLock { $0 += 1 }
                    arrived.resolve(())
                }
            }
            _ = write("a", into: pipe)
            try await arrived.value()
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            _ = write("b", into: pipe)
            #expect(calls.withLock { $0 } == 1)
            #expect(try await pipe.next() == Array("b".utf8))
        }

        @Test("A cancelled reader waits for a receiver that is running")
        func lastReturn() async throws {
            let pipe = HTTPBodyPipe()
            let (first, entered, gate, isOver) = (
                Promise<Void>(), Promise<Void>(), DispatchSemaphore(value: 0), Locked(false)
            )
            let (executor, wasOver) = (SettlingExecutor(), Locked(false))
            let reader = await executor.start {
                defer { wasOver.withLock { $0 = isOver.withLock { $0 } } }
                try await pipe.forEach { bytes in
                    if bytes.first == UInt8(ascii: "a") { return _ = first.resolve(()) }
                    entered.resolve(())
                    gate.wait()
                    isOver.withLock { $0 = true }
                }
            }
            // The first piece may be read by the reader itself, the second is passed on.
            _ = write("a", into: pipe)
            try await first.value()
            try #require(NetworkThread.start("feathers-test") { _ = write("b", into: pipe) })
            try await entered.value()
            reader.cancel()
            // Without the wait, the reader would return in these steps.
            await executor.settle()
            gate.signal()
            await #expect(throws: CancellationError.self) { try await reader.value }
            #expect(wasOver.withLock { $0 })
        }
    }
#endif
