import FeathersCore
import Foundation
import Testing

@testable import FeathersSync

@Suite("The rules of an outbox")
struct OutboxQueueTests {
    private static let retry = OutboxRetry(initialDelay: .seconds(1), jitter: 0)

    /// A queue with these lanes, one write for each, that has started.
    private func queue(_ lanes: [String], limit: Int = 4) -> OutboxQueue {
        var queue = OutboxQueue(limit: limit, retry: Self.retry)
        for (index, lane) in lanes.enumerated() { queue.add(.sample(index, lane: lane)) }
        queue.start()
        return queue
    }

    /// What is sent now, by number.
    private func taken(_ queue: inout OutboxQueue, at seconds: Int = 0) -> [Int] {
        queue.takeSendable(at: .seconds(seconds)).map { item in
            (0..<1000).first { UUID.sample($0) == item.write.id } ?? -1
        }
    }

    private func verdict(
        _ code: FeathersError.Code, _ execution: FeathersError.Execution = .neverSent, isKeyed: Bool = true
    ) -> SendVerdict {
        SendVerdict(FeathersError(code, "no", execution: execution), isKeyed: isKeyed)
    }

    private func failure(_ number: Int, _ reason: OutboxFailure.Reason = .rejected) -> OutboxFailure {
        OutboxFailure(
            write: .sample(number), reason: reason, error: FeathersError(.badRequest, "no"),
            mayHaveExecuted: reason == .unknown)
    }

    @Test("Each lane sends one at a time in its order, beside the others")
    func lanes() {
        var queue = queue(["a", "a", "b", "a", "b"])
        #expect(taken(&queue) == [0, 2])
        #expect(taken(&queue) == [])
        queue.remove(.sample(2))
        #expect(taken(&queue) == [4])
        queue.remove(.sample(0))
        #expect(taken(&queue) == [1])
        queue.remove(.sample(1))
        #expect(taken(&queue) == [3])
        queue.remove(.sample(3))
        queue.remove(.sample(4))
        #expect(queue.items.isEmpty && queue.lanes.isEmpty)
    }

    @Test("The writes that were queued while no one was signed in are not sent for a user who does not own them yet")
    func unowned() {
        let (alice, bob) = (Identity("alice"), Identity("bob"))
        var queue = queue(["a"])
        queue.identityChanged(to: bob)
        #expect(queue.nextOwner == bob && taken(&queue) == [] && !queue.isAtRest)
        queue.identityChanged(to: alice)
        #expect(queue.nextOwner == alice && taken(&queue) == [])
        // It reached the disk after all.
        queue.take(for: bob)
        #expect(queue.nextOwner == nil && taken(&queue) == [] && queue.writes(of: alice).isEmpty)
        queue.identityChanged(to: bob)
        #expect(taken(&queue) == [0])
    }

    /// Signs a user in, who takes what was queued signed out.
    private func signIn(_ user: Identity, _ queue: inout OutboxQueue) {
        queue.identityChanged(to: user)
        if let owner = queue.nextOwner { queue.take(for: owner) }
    }

    @Test("The writes that were queued while no one was signed in are the next user's, in the order they were queued")
    func signedOut() {
        let (alice, bob) = (Identity("alice"), Identity("bob"))
        var queue = queue(["a", "a", "b"])
        queue.add(.sample(3, lane: "a", identity: alice))
        signIn(alice, &queue)
        #expect(queue.takeSendable(at: .zero).allSatisfy { $0.write.identity == alice })
        #expect(queue.putOff(.sample(0), verdict(.timeout, .mayHaveExecuted), at: .zero, random: 0) != nil)
        queue.remove(.sample(2))

        // Later signed-out writes are the next user's, and wait for nobody else's outcome.
        queue.identityChanged(to: nil)
        queue.add(.sample(4, lane: "a"))
        signIn(bob, &queue)
        #expect(queue.writes(of: bob).map(\.write.id) == [.sample(4)])
        queue.retryNow()
        #expect(taken(&queue) == [4])
        queue.remove(.sample(4))
        #expect(taken(&queue) == [] && queue.isAtRest)

        signIn(alice, &queue)
        for number in [0, 1, 3] {
            #expect(taken(&queue) == [number])
            queue.remove(.sample(number))
        }
        #expect(queue.lanes.isEmpty)
    }

    @Test(
        "A user's writes and signed-out ones to one record are sent in order, each once the one before it is done with"
    )
    func sharedRecord() {
        let alice = Identity("alice")
        var queue = queue(["a"])
        signIn(alice, &queue)
        #expect(taken(&queue) == [0])
        queue.add(.sample(1, lane: "a", identity: alice))
        queue.add(.sample(2, lane: "a"))
        #expect(queue.nextOwner == alice)
        queue.take(for: alice)
        #expect(queue.nextOwner == nil && taken(&queue) == [])
        queue.remove(.sample(0))
        #expect(taken(&queue) == [1])
        queue.failed(failure(1))
        #expect(taken(&queue) == [] && queue.items[.sample(2)]?.write.identity == alice && !queue.isAtRest)
        #expect(queue.takeUnasked().map(\.write.id) == [.sample(1)])
        queue.asked(.sample(1))
        #expect(queue.isAtRest)
        queue.remove(.sample(1))
        #expect(taken(&queue) == [2])
        queue.identityChanged(to: nil)
        queue.add(.sample(3, lane: "a"))
        #expect(taken(&queue) == [3])
    }

    @Test("A log-out ends the wait for a sign-in, because signed-out writes may be permitted")
    func loggedOut() {
        var queue = queue(["a"])
        signIn(Identity("alice"), &queue)
        #expect(taken(&queue) == [0])
        _ = queue.putOff(.sample(0), verdict(.notAuthenticated), at: .zero, random: 0)
        #expect(taken(&queue) == [])
        queue.identityChanged(to: nil)
        queue.add(.sample(1, lane: "a"))
        #expect(taken(&queue) == [1])
    }

    @Test("No more lanes go at once than the limit, and none starves")
    func limit() {
        var queue = queue((0..<200).map { "\($0)" }, limit: 3)
        var order: [Int] = []
        while case let next = taken(&queue), !next.isEmpty {
            #expect(order.isEmpty ? next.count == 3 : next.count == 1)
            order += next
            queue.remove(.sample(order[order.count - 3 < 0 ? 0 : order.count - next.count]))
        }
        #expect(order.prefix(3) == [0, 1, 2])
        #expect(Set(order).count == order.count)
    }

    @Test("Nothing is sent before it starts, without a connection, and once it stopped")
    func gate() {
        var queue = OutboxQueue(limit: 4, retry: Self.retry)
        queue.add(.sample(0))
        #expect(taken(&queue) == [])
        queue.start()
        queue.gate.isConnected = false
        #expect(taken(&queue) == [])
        queue.gate.isConnected = true
        queue.gate.stop()
        #expect(taken(&queue) == [])
        queue.start()
        #expect(taken(&queue) == [0])
    }

    @Test(
        "A server that cannot be reached is tried again after a delay by one write alone; its answer lets all others go"
    )
    func unreachable() {
        var queue = queue(["a", "b", "c"], limit: 2)
        #expect(taken(&queue) == [0, 1])
        #expect(queue.putOff(.sample(0), verdict(.unavailable), at: .zero, random: 0) == .seconds(1))
        // Both failed together: that is one failure.
        #expect(queue.putOff(.sample(1), verdict(.unavailable), at: .zero, random: 0) == .seconds(1))
        #expect(taken(&queue) == [])
        #expect(taken(&queue, at: 1).count == 1)
        #expect(
            queue.inOrder.first { $0.stage != .waiting }.flatMap {
                queue.putOff($0.write.id, verdict(.unavailable), at: .seconds(1), random: 0)
            } == .seconds(3))
        #expect(taken(&queue, at: 2) == [])
        let probe = taken(&queue, at: 3)
        #expect(probe.count == 1)
        queue.remove(.sample(probe[0]))
        #expect(taken(&queue, at: 3).count == 2)
    }

    @Test("A connection that stands again, and a resumption, end every delay", arguments: [true, false])
    func reconnected(_ isConnection: Bool) {
        var queue = queue(["a"])
        _ = taken(&queue)
        _ = queue.putOff(.sample(0), verdict(.unavailable), at: .zero, random: 0)
        #expect(taken(&queue) == [])
        if isConnection {
            queue.gate.isConnected = false
            queue.gate.isConnected = true
        } else {
            queue.gate.resume()
        }
        #expect(taken(&queue) == [0])
    }

    @Test("What a server puts off waits as long as it asks, and holds up its own lane alone")
    func putOff() {
        var queue = queue(["a", "a", "b"])
        #expect(taken(&queue) == [0, 2])
        let late = SendVerdict(FeathersError(.tooManyRequests, "slow", data: ["retryAfter": 30]), isKeyed: false)
        #expect(queue.putOff(.sample(0), late, at: .zero, random: 0) == .seconds(30))
        queue.remove(.sample(2))
        queue.add(.sample(3, lane: "c"))
        queue.timePassed(.sample(0), at: .seconds(29))
        #expect(taken(&queue, at: 29) == [3])
        queue.timePassed(.sample(0), at: .seconds(30))
        #expect(taken(&queue, at: 30) == [0])
    }

    @Test(
        "A server can put a write off by an hour at the most, or by the app's own maximum where that is longer",
        arguments: [(60, 3600), (86_400, 86_400)])
    func putOffForYears(_ maximum: Int, _ seconds: Int) {
        var queue = OutboxQueue(limit: 4, retry: OutboxRetry(maximumDelay: .seconds(maximum), jitter: 0))
        queue.add(.sample(0))
        queue.start()
        #expect(taken(&queue) == [0])
        var error = FeathersError(.tooManyRequests, "slow")
        error.retryAfter = .seconds(1e9)
        #expect(queue.putOff(.sample(0), SendVerdict(error, isKeyed: false), at: .zero, random: 0) == .seconds(seconds))
    }

    @Test("A refusal for want of a sign-in stops all, until somebody signs in")
    func signIn() {
        var queue = queue(["a", "b", "c"], limit: 2)
        #expect(taken(&queue) == [0, 1])
        #expect(queue.putOff(.sample(0), verdict(.notAuthenticated, .answered), at: .zero, random: 0) == nil)
        #expect(queue.gate.needsSignIn)
        #expect(taken(&queue) == [])
        queue.gate.userChanged()
        // It began before the sign-in, so that its refusal says nothing of now.
        #expect(queue.putOff(.sample(1), verdict(.notAuthenticated, .answered), at: .zero, random: 0) == nil)
        #expect(!queue.gate.needsSignIn)
        #expect(Set(taken(&queue)).count == 2)
    }

    @Test("A write that waits for a decision holds up its own lane alone; each decision leads on")
    func deciding() throws {
        var queue = queue(["a", "a", "b"])
        #expect(taken(&queue) == [0, 2])
        queue.failed(failure(0))
        #expect(queue.takeUnasked().map(\.write.id) == [.sample(0)])
        #expect(queue.takeUnasked().isEmpty)
        queue.remove(.sample(2))
        #expect(taken(&queue) == [])

        try queue.decisionBegan(.sample(0))
        queue.decisionFailed(.sample(0))
        #expect(queue.items[.sample(0)]?.stage == .failed(isAsked: true))

        try queue.decisionBegan(.sample(0))
        #expect(taken(&queue) == [])
        queue.decided(.sample(0), Replacement(key: .sample(77), data: ["text": "other"]))
        let sent = queue.takeSendable(at: .zero)
        #expect(
            sent.first?.write.key == .sample(77) && sent.first?.write.data == ["text": "other"]
                && sent.first?.write.id == .sample(0))

        queue.failed(failure(0))
        try queue.decisionBegan(.sample(0))
        queue.remove(.sample(0))
        #expect(taken(&queue) == [1])
    }

    @Test("Any write that is not on its way can be decided about, and no other")
    func decidingEarly() throws {
        var queue = queue(["a", "a"])
        #expect(taken(&queue) == [0])
        #expect(throws: FeathersError.self) { try queue.decisionBegan(.sample(0)) }
        #expect(throws: FeathersError.self) { try queue.decisionBegan(.sample(9)) }
        try queue.decisionBegan(.sample(1))
        #expect(throws: FeathersError.self) { try queue.decisionBegan(.sample(1)) }
        queue.remove(.sample(1))
        queue.remove(.sample(0))
        #expect(queue.lanes.isEmpty && taken(&queue) == [])
    }

    @Test(
        "What was on its way when the app ended is sent again with a key, and asked about without",
        arguments: [true, false])
    func interrupted(_ isKeyed: Bool) {
        var queue = queue(["a"])
        #expect(taken(&queue) == [0])
        let course = isKeyed ? SendVerdict.Course.again : .ask(.unknown)
        queue.deferred(.sample(0), course, .mayHaveExecuted, at: .zero, random: 0)
        #expect(queue.items[.sample(0)]?.mayHaveExecuted == true)
        queue.start()
        #expect(queue.takeUnasked().map(\.reason) == (isKeyed ? [] : [.unknown]))
        #expect(taken(&queue) == (isKeyed ? [0] : []))
    }

    @Test("An earlier process' writes come back as they were", arguments: [true, false])
    func restored(_ isKeyed: Bool) {
        var queue = OutboxQueue(limit: 9, retry: Self.retry)
        let stored = [
            StoredWrite(write: .sample(0), number: 1),
            StoredWrite(write: .sample(1), number: 2, execution: .mayHaveExecuted),
            StoredWrite(write: .sample(2), number: 3, failure: failure(2, .conflict)),
        ]
        for write in stored { queue.restore(write, isKeyed: isKeyed) }
        queue.start()
        #expect(taken(&queue) == (isKeyed ? [0, 1] : [0]))
        #expect(queue.takeUnasked().map(\.reason) == (isKeyed ? [.conflict] : [.unknown, .conflict]))
        // Whoever was asked and did not answer is asked again by the next life.
        queue.start()
        #expect(queue.takeUnasked().count == (isKeyed ? 1 : 2))
    }
}

extension OutboxQueue {
    /// Records an attempt that failed.
    /// - Returns: When the write must be looked at again.
    fileprivate mutating func putOff(
        _ id: UUID, _ verdict: SendVerdict, at now: Duration, random: Double
    ) -> Duration? {
        deferred(id, verdict.course, verdict.execution, at: now, random: random)
        return nextAttempt(of: id)
    }
}
