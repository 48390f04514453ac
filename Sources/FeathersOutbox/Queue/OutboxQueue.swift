import FeathersCore
import Foundation

/// The rules of an outbox: what is sent when. It knows neither files nor services.
///
/// Writes of one lane are sent one after the other, each only when the one before it is done with; lanes go beside each other, up to a
/// limit. A write that waits for a decision holds up its own lane and no other.
struct OutboxQueue: Sendable {
    /// How a write is.
    enum Stage: Sendable, Equatable {
        case waiting
        /// An attempt is under way, which began after so many sign-ins.
        case sending(signIns: Int)
        case retrying(at: Duration)
        /// Somebody has to decide; `isAsked` where the app's function is about it.
        case failed(isAsked: Bool)
        /// What was decided is being written down.
        case deciding(failed: Bool)
    }

    struct Item: Sendable {
        var write: OutboxWrite
        var stage = Stage.waiting
        /// How many attempts have begun since the process did.
        var attempts = 0
        /// How many attempts in a row the server answered by putting it off.
        var delays = 0
        /// Whether an attempt may have been executed.
        var mayHaveExecuted = false
        var failure: OutboxFailure?
        let number: Int
    }

    private(set) var items: [UUID: Item] = [:]
    var lanes: [String: [UUID]] = [:]
    var ready = ReadyLanes()
    private var addedCount = 0
    private var sendingCount = 0
    /// The writes that need a decision and nobody has been asked about.
    private var unasked: [UUID] = []

    private let limit: Int
    private let retry: OutboxRetry
    private(set) var gate = OutboxGate()

    init(limit: Int, retry: OutboxRetry) {
        self.limit = max(limit, 1)
        self.retry = retry
    }

    /// The writes in the order they were handed in.
    var inOrder: [Item] { items.values.sorted { $0.number < $1.number } }

    /// Adds a write behind all others.
    mutating func add(_ write: OutboxWrite) {
        addedCount += 1
        items[write.id] = Item(write: write, number: addedCount)
        lanes[write.lane, default: []].append(write.id)
        refreshLane(write.lane)
    }

    /// Adds a write that an earlier process handed in.
    /// - Parameter isKeyed: whether it may be sent again although it may have been executed.
    mutating func restore(_ stored: StoredWrite, isKeyed: Bool) {
        add(stored.write)
        let id = stored.write.id
        items[id]?.mayHaveExecuted = stored.mayHaveExecuted
        if let failure = stored.failure {
            fail(id, failure)
        } else if stored.mayHaveExecuted, !isKeyed {
            fail(id, OutboxFailure(interrupted: stored.write))
        }
    }

    /// Changes what stands between all writes and the server.
    mutating func changeGate(_ change: (inout OutboxGate) -> Void) { change(&gate) }

    /// Begins to send, and to ask.
    mutating func start() {
        gate.start()
        unasked = inOrder.filter { $0.failure != nil }.map(\.write.id)
        for id in unasked { if case .failed = items[id]?.stage { items[id]?.stage = .failed(isAsked: false) } }
    }

    /// What is to be sent now: each begins to be on its way.
    mutating func takeSendable(at now: Duration) -> [Item] {
        var taken: [Item] = []
        while let limit = gate.limit(at: now, atMost: limit), sendingCount < limit, let lane = ready.popFirst() {
            guard let id = lanes[lane]?.first, items[id]?.stage == .waiting else { continue }
            items[id]?.stage = .sending(signIns: gate.signIns)
            items[id]?.attempts += 1
            sendingCount += 1
            if let item = items[id] { taken.append(item) }
        }
        return taken
    }

    /// What the app's function is to be asked about now.
    mutating func takeUnasked() -> [OutboxFailure] {
        defer { unasked = [] }
        return unasked.compactMap { id in
            guard items[id]?.stage == .failed(isAsked: false) else { return nil }
            items[id]?.stage = .failed(isAsked: true)
            return items[id]?.failure
        }
    }

    /// An attempt has succeeded, or a write was given up: it is done with.
    mutating func remove(_ id: UUID) {
        guard let item = items.removeValue(forKey: id) else { return }
        if case .sending = item.stage {
            sendingCount -= 1
            gate.reached()
        }
        let lane = item.write.lane
        lanes[lane]?.removeAll { $0 == id }
        if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
        refreshLane(lane)
    }

    /// An attempt has failed and nobody needs to decide.
    /// - Returns: when to look again; nil where that depends on something else.
    mutating func putOff(_ id: UUID, _ verdict: SendVerdict, at now: Duration, random: Double) -> Duration? {
        guard case .sending(let signIns)? = endAttempt(id, mayHaveExecuted: verdict.mayHaveExecuted) else { return nil }
        var moment: Duration?
        switch verdict.course {
        case .waitForServer:
            moment = gate.missed(at: now, retry, random: random)
        case .waitForSignIn:
            gate.reached()
            gate.refused(signIns: signIns)
        case .retry(let asked):
            gate.reached()
            items[id]?.delays += 1
            let until = now + max(retry.delay(after: items[id]?.delays ?? 1, random: random), asked ?? .zero)
            items[id]?.stage = .retrying(at: until)
            moment = until
        case .ask: break
        }
        if let lane = items[id]?.write.lane { refreshLane(lane) }
        return moment
    }

    /// An attempt has failed and somebody needs to decide.
    mutating func ask(_ failure: OutboxFailure) {
        let id = failure.write.id
        guard case .sending? = endAttempt(id, mayHaveExecuted: failure.mayHaveExecuted) else { return }
        if failure.reason == .unknown { gate.suspect() } else { gate.reached() }
        fail(id, failure)
    }

    /// An attempt was given up with the app's life: nobody knows what became of it.
    mutating func interrupt(_ id: UUID, isKeyed: Bool) {
        guard case .sending? = endAttempt(id, mayHaveExecuted: true), let write = items[id]?.write else { return }
        if isKeyed { refreshLane(write.lane) } else { fail(id, OutboxFailure(interrupted: write)) }
    }

    /// Time has passed: what was put off until now may be sent.
    mutating func timePassed(_ id: UUID, at now: Duration) {
        guard case .retrying(let moment)? = items[id]?.stage, moment <= now else { return }
        items[id]?.stage = .waiting
        if let lane = items[id]?.write.lane { refreshLane(lane) }
    }

    private mutating func endAttempt(_ id: UUID, mayHaveExecuted: Bool) -> Stage? {
        guard let stage = items[id]?.stage, case .sending = stage else { return nil }
        sendingCount -= 1
        items[id]?.stage = .waiting
        if mayHaveExecuted { items[id]?.mayHaveExecuted = true }
        return stage
    }

    private mutating func fail(_ id: UUID, _ failure: OutboxFailure) {
        items[id]?.failure = failure
        items[id]?.stage = .failed(isAsked: false)
        unasked.append(id)
    }

    /// Puts a lane in line whose first write may be sent, and takes out one whose may not.
    private mutating func refreshLane(_ lane: String) {
        guard let id = lanes[lane]?.first, items[id]?.stage == .waiting else { return ready.remove(lane) }
        ready.append(lane)
    }
}

extension OutboxQueue {
    /// Somebody has decided about a write, which is being written down; meanwhile it is not sent.
    /// - Throws: ``FeathersError/Code/notFound`` where there is no such write, ``FeathersError/Code/conflict`` where it is on its way.
    mutating func decisionBegan(_ id: UUID) throws(FeathersError) {
        guard let item = items[id] else { throw FeathersError(.notFound, "No write \(id.text) is in the outbox", execution: .neverSent) }
        switch item.stage {
        case .sending, .deciding:
            throw FeathersError(.conflict, "The write \(id.text) is on its way: decide when its attempt has ended", execution: .neverSent)
        case .waiting, .retrying: items[id]?.stage = .deciding(failed: false)
        case .failed: items[id]?.stage = .deciding(failed: true)
        }
        refreshLane(item.write.lane)
    }

    /// A decision could not be written down: everything is as it was.
    mutating func decisionFailed(_ id: UUID) {
        guard let item = items[id], case .deciding(let failed) = item.stage else { return }
        items[id]?.stage = failed ? .failed(isAsked: true) : .waiting
        refreshLane(item.write.lane)
    }

    /// A write is to be sent again, as it is or as another one.
    mutating func decided(_ id: UUID, key: UUID? = nil, data: JSONValue? = nil) {
        guard let item = items[id], case .deciding = item.stage else { return }
        if let key {
            items[id]?.write.key = key
            items[id]?.write.data = data
        }
        items[id]?.stage = .waiting
        items[id]?.failure = nil
        items[id]?.delays = 0
        items[id]?.mayHaveExecuted = false
        refreshLane(item.write.lane)
    }
}

extension OutboxFailure {
    /// The process, or the app, ended while the write was on its way.
    fileprivate init(interrupted write: OutboxWrite) {
        self.init(
            write: write, reason: .unknown,
            error: FeathersError(.unavailable, "The app ended before the answer came", execution: .mayHaveExecuted), mayHaveExecuted: true)
    }
}
