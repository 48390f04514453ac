import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCaching

@Suite("Reads in flight", .timeLimit(.minutes(10)))
struct InFlightReadsTests {
    /// An app whose server answers when the clock is advanced, with the number of the request, and a count of who waits
    /// for others.
    private struct Slow {
        let cached: CachedApp
        let clock = ManualClock()
        let waiting: AsyncStream<Int>

        init(failing: Bool = false, configure: (inout CacheOptions) -> Void = { _ in }) {
            let clock = clock
            let count = Locked(0)
            let transport = StubTransport { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                try await clock.sleep(for: .seconds(1))
                if failing { throw FeathersError(.unavailable, "failure \(number)") }
                return .integer(Int64(number))
            }
            let (waiting, continuation) = AsyncStream.makeStream(of: Int.self)
            self.waiting = waiting
            cached = CachedApp(transport: transport) { options in
                configure(&options)
                options.onWaiting = { continuation.yield($0) }
            }
        }

        /// Until so many callers wait for another's request.
        func waitForWaiters(_ count: Int) async {
            for await waiters in waiting where waiters == count { return }
        }

        /// Answers the request that waits for the clock, once one does: who asks first may be slower than all who wait
        /// for the answer.
        func answer() async throws {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
        }
    }

    @Test("Identical reads share one request")
    func shared() async throws {
        let slow = Slow()
        let values = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<10 { group.addTask { try await slow.cached.messages.get(1) } }
            await slow.waitForWaiters(9)
            try await slow.answer()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 10))
        #expect(slow.cached.transport.requests.count == 1)
    }

    @Test("A failure is shared too")
    func failure() async throws {
        let slow = Slow(failing: true)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do { return "\(try await slow.cached.messages.get(1))" } catch { return "\(error)" }
                }
            }
            await slow.waitForWaiters(2)
            try await slow.answer()
            for try await outcome in group { #expect(outcome.contains("failure 1")) }
        }
    }

    @Test("When the one that asks is cancelled, the next takes over and the others get its answer")
    func handOver() async throws {
        let slow = Slow()
        try await withThrowingTaskGroup(of: JSONValue.self) { others in
            try await withThrowingTaskGroup(of: JSONValue.self) { first in
                first.addTask { try await slow.cached.messages.get(1) }
                try await slow.cached.transport.waitForRequest(number: 1)
                for _ in 0..<3 { others.addTask { try await slow.cached.messages.get(1) } }
                await slow.waitForWaiters(3)
                first.cancelAll()
                await #expect(throws: CancellationError.self) { try await first.next() }
            }
            try await slow.cached.transport.waitForRequest(number: 2)
            try await slow.answer()
            for try await value in others { #expect(value == 2) }
        }
        #expect(slow.cached.transport.requests.count == 2)
    }

    @Test("When one that waits is cancelled, it ends at once and nobody else does")
    func cancelledWaiter() async throws {
        let slow = Slow()
        try await withThrowingTaskGroup(of: JSONValue.self) { first in
            first.addTask { try await slow.cached.messages.get(1) }
            try await slow.cached.transport.waitForRequest(number: 1)
            await withThrowingTaskGroup(of: JSONValue.self) { second in
                second.addTask { try await slow.cached.messages.get(1) }
                await slow.waitForWaiters(1)
                second.cancelAll()
                await #expect(throws: CancellationError.self) { try await second.next() }
            }
            try await slow.answer()
            #expect(try await first.next() == 1)
        }
        #expect(slow.cached.transport.requests.count == 1)
    }

    @Test(
        "What is not identical is asked for itself: other credentials, another patience, another id, nothing kept",
        arguments: [
            Params(headers: ["Authorization": "b"]), Params(timeout: .seconds(600)), Params(query: ["a": 1]),
            .caching(.networkOnlyNoCache),
            .caching(.networkOnlyUpdateCache, expiration: .after(.seconds(1))),
        ])
    func different(_ params: Params) async throws {
        let slow = Slow()
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            group.addTask { try await slow.cached.messages.get(1) }
            group.addTask { try await slow.cached.messages.get(1, params: params) }
            try await slow.clock.waitForSleepers(2)
            slow.clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
        #expect(slow.cached.transport.requests.count == 2)
    }

    @Test("A read after a change does not join one from before it")
    func afterChange() async throws {
        let slow = Slow()
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            group.addTask { try await slow.cached.messages.get(1) }
            try await slow.clock.waitForSleepers(1)
            await slow.cached.cache.invalidate(group: "messages")
            group.addTask { try await slow.cached.messages.get(1) }
            try await slow.clock.waitForSleepers(2)
            slow.clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
        #expect(slow.cached.transport.requests.count == 2)
        // Only the later one is kept.
        #expect(await slow.cached.kept()?.value == 2)
    }

    @Test("A hook that makes the same read asks for itself rather than waiting for itself")
    func recursion() async throws {
        enum IsInner: ParamsKey { typealias Value = Bool }
        let cached = CachedApp()
        await cached.messages.use(
            hooks: Hooks(before: [
                .get: [
                    { context in
                        guard context.params[IsInner.self] == nil else { return }
                        var params = context.params
                        params[IsInner.self] = true
                        context.result = ["inner": try await context.service.get(1, params: params)]
                    }
                ]
            ]))
        #expect(try await cached.messages.get(1) == ["inner": "new"])
    }

    @Test("Without sharing, every read asks")
    func unshared() async throws {
        let slow = Slow { $0.sharesRequests = false }
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<3 { group.addTask { try await slow.cached.messages.get(1) } }
            try await slow.clock.waitForSleepers(3)
            slow.clock.advance(by: .seconds(1))
            try await group.waitForAll()
        }
        #expect(slow.cached.transport.requests.count == 3)
    }
}
