import FeathersCore
import Foundation

/// The rules for which write of an outbox is sent when. Independent of files and services.
///
/// The writes of one lane are sent one after the other. Lanes are sent concurrently, up to a limit. A write that waits
/// for a decision blocks only its own lane.
struct OutboxQueue: Sendable {
    /// The progress of a write.
    enum Stage: Sendable, Equatable {
        case waiting
        /// An attempt is in flight. `signIns` is the number of sign-ins before it began.
        case sending(signIns: Int)
        case retrying(at: Duration)
        /// A decision is needed. `isAsked` tells whether the app's function has been called for it.
        case failed(isAsked: Bool)
        /// A decision is being recorded.
        case deciding(failed: Bool)

        var isSending: Bool { if case .sending = self { true } else { false } }
    }

    struct Item: Sendable {
        var write: OutboxWrite
        var stage = Stage.waiting
        /// The number of attempts that have begun since the process started.
        var attempts = 0
        /// The number of consecutive attempts that the server has deferred.
        var delays = 0
        /// What is known of all attempts with the write's key.
        var execution = FeathersError.Execution.neverSent
        var failure: OutboxFailure?
        let number: Int

        var mayHaveExecuted: Bool { execution == .mayHaveExecuted }
    }

    /// The writes to a record that belong to one user, or to none. Two users' writes wait for different sign-ins, so
    /// they cannot share a lane.
    struct Lane: Sendable, Hashable {
        let name: String
        let identity: Identity?
    }

    private(set) var items: [UUID: Item] = [:]
    /// The signed-in user. Only this user's writes are sent.
    private(set) var identity: Identity?
    /// The conditions that hold back all writes.
    var gate = OutboxGate()
    private(set) var lanes: [Lane: [UUID]] = [:]
    /// The names of the lanes that belong to no user.
    private var signedOutLanes: Set<String> = []
    var references = OutboxReferences()
    private var ready = ReadyLanes()
    private var addedCount = 0
    private var sendingCount = 0
    /// The writes that need a decision for which the app's function has not been called yet.
    private var unasked: [UUID] = []
    /// The writes for which the app's function is running.
    private var asking: Set<UUID> = []

    private let limit: Int
    private let retry: OutboxRetry

    init(limit: Int, retry: OutboxRetry) {
        self.limit = max(limit, 1)
        self.retry = retry
    }

    /// The writes in the order they were queued.
    var inOrder: [Item] { items.values.sorted { $0.number < $1.number } }

    /// Returns the writes that a user may see, in the order they were queued.
    func writes(of identity: Identity?) -> [Item] { inOrder.filter { $0.write.belongs(to: identity) } }

    /// Records that a user has signed in or out.
    mutating func identityChanged(to identity: Identity?) {
        self.identity = identity
        gate.userChanged()
        for lane in lanes.keys { refreshLane(lane.name) }
    }

    /// The signed-in user, if there are writes that were queued while no one was signed in. They are sent for this user
    /// once that is on disk.
    var nextOwner: Identity? { signedOutLanes.isEmpty ? nil : identity }

    /// Gives the writes that were queued while no one was signed in to a user.
    mutating func take(for identity: Identity) {
        for name in signedOutLanes {
            give(Lane(name: name, identity: nil), to: identity)
            refreshLane(name)
        }
        signedOutLanes = []
    }

    /// Gives the writes of a lane to a user, in the order they were queued.
    private mutating func give(_ lane: Lane, to identity: Identity) {
        let ids = lanes.removeValue(forKey: lane) ?? []
        for id in ids {
            items[id]?.write.identity = identity
            items[id]?.failure?.write.identity = identity
        }
        let new = Lane(name: lane.name, identity: identity)
        let all = (lanes[new, default: []] + ids).compactMap { items[$0] }.sorted { $0.number < $1.number }
        // A write that is being sent stays first.
        lanes[new] = (all.filter(\.stage.isSending) + all.filter { !$0.stage.isSending }).map(\.write.id)
    }

    /// Appends a write.
    mutating func add(_ write: OutboxWrite) {
        addedCount += 1
        items[write.id] = Item(write: write, number: addedCount)
        lanes[write.ownLane, default: []].append(write.id)
        if write.identity == nil { signedOutLanes.insert(write.lane) }
        references.add(write, after: write.previous.flatMap { items[$0]?.write.id })
        refreshLane(write.lane)
    }

    /// Sets a write in which keys were replaced with the ids that the server has assigned.
    mutating func rename(_ write: OutboxWrite) {
        items[write.id]?.write = write
        items[write.id]?.failure?.write = write
    }

    /// Adds a write that an earlier process queued.
    /// - Parameter isKeyed: Whether the write can be sent again even if it may have been executed.
    mutating func restore(_ stored: StoredWrite, isKeyed: Bool) {
        add(stored.write)
        let id = stored.write.id
        items[id]?.execution = stored.execution
        if let failure = stored.failure {
            fail(id, failure)
        } else if stored.execution == .mayHaveExecuted, !isKeyed {
            fail(id, OutboxFailure(interrupted: stored.write))
        }
    }

    /// Removes a write that has succeeded or was discarded.
    mutating func remove(_ id: UUID) {
        guard let item = items.removeValue(forKey: id) else { return }
        if case .sending = item.stage {
            sendingCount -= 1
            gate.reached()
        }
        let lane = item.write.ownLane
        lanes[lane]?.removeAll { $0 == id }
        if lanes[lane]?.isEmpty == true {
            lanes[lane] = nil
            if lane.identity == nil { signedOutLanes.remove(lane.name) }
        }
        refreshLane(lane.name)
        for waiting in references.remove(item.write) {
            if let lane = items[waiting]?.write.lane { refreshLane(lane) }
        }
    }

    /// Starts to send writes and to ask for decisions.
    mutating func start() {
        gate.start()
        asking = []
        // The tasks that waited for these delays ended with the previous run.
        for (id, item) in items {
            guard case .retrying = item.stage else { continue }
            items[id]?.stage = .waiting
            items[id]?.delays = 0
            refreshLane(item.write.lane)
        }
        unasked = inOrder.filter { $0.failure != nil }.map(\.write.id)
        for id in unasked { if case .failed = items[id]?.stage { items[id]?.stage = .failed(isAsked: false) } }
    }

    /// Takes the writes that can be sent now, and marks them as being sent.
    mutating func takeSendable(at now: Duration) -> [Item] {
        var taken: [Item] = []
        while let limit = gate.limit(at: now, atMost: limit), sendingCount < limit, let name = ready.popFirst() {
            guard let id = nextWrite(of: name) else { continue }
            items[id]?.stage = .sending(signIns: gate.signIns)
            items[id]?.attempts += 1
            sendingCount += 1
            if let item = items[id] { taken.append(item) }
        }
        return taken
    }

    /// Takes the failures for which the app's function must be called now.
    mutating func takeUnasked() -> [OutboxFailure] {
        let ids = unasked
        unasked = []
        return ids.compactMap { id in
            guard items[id]?.stage == .failed(isAsked: false) else { return nil }
            guard items[id]?.write.belongs(to: identity) == true else {
                // Kept until that user signs in again.
                unasked.append(id)
                return nil
            }
            items[id]?.stage = .failed(isAsked: true)
            asking.insert(id)
            return items[id]?.failure
        }
    }

    private mutating func fail(_ id: UUID, _ failure: OutboxFailure) {
        items[id]?.failure = failure
        items[id]?.stage = .failed(isAsked: false)
        unasked.append(id)
    }

    /// The first write to a record of the signed-in user's.
    private func firstWrite(of name: String) -> Item? {
        lanes[Lane(name: name, identity: identity)]?.first.flatMap { items[$0] }
    }

    /// Returns the write of a record that can be sent now, if there is one.
    private func nextWrite(of name: String) -> UUID? {
        guard let first = firstWrite(of: name), first.stage == .waiting, !references.isWaiting(first.write.id) else {
            return nil
        }
        return first.write.id
    }

    /// Enqueues a record whose next write can be sent, and removes it from the line otherwise.
    mutating func refreshLane(_ name: String) {
        if nextWrite(of: name) == nil { ready.remove(name) } else { ready.append(name) }
    }
}

// MARK: - Flushing

extension OutboxQueue {
    /// Ends all delays.
    mutating func retryNow() {
        gate.resume()
        for (id, item) in items {
            guard case .retrying = item.stage else { continue }
            items[id]?.stage = .waiting
            refreshLane(item.write.lane)
        }
    }

    /// Whether nothing of the signed-in user's can be sent without a decision or a sign-in.
    var isAtRest: Bool {
        if gate.needsSignIn { return true }
        if gate.isStarted, nextOwner != nil { return false }
        return asking.isEmpty
            && lanes.keys.allSatisfy { lane in
                guard let first = firstWrite(of: lane.name) else { return true }
                return first.stage == .failed(isAsked: true) || references.isWaiting(first.write.id)
            }
    }

    /// The last write of a lane, if it is a patch that no server has received with its key. Not one of a group, which is
    /// discarded as a whole.
    func lastUnsentPatch(in lane: Lane) -> OutboxWrite? {
        guard let item = lanes[lane]?.last.flatMap({ items[$0] }), item.stage == .waiting,
            item.execution == .neverSent,
            item.failure == nil, item.write.method == .patch, item.write.data?.object != nil,
            !references.isGrouped(item.write.id)
        else { return nil }
        return item.write
    }

    /// Records that the app's function has returned.
    mutating func asked(_ id: UUID) { asking.remove(id) }

    /// Records what the server says of a record whose write has failed.
    mutating func compared(_ failure: OutboxFailure) {
        guard items[failure.write.id]?.failure != nil else { return }
        items[failure.write.id]?.failure = failure
    }

    /// Returns when a deferred write must be looked at again; nil if that does not depend on time.
    func nextAttempt(of id: UUID) -> Duration? {
        if case .retrying(let moment)? = items[id]?.stage { moment } else { gate.closedUntil }
    }
}

// MARK: - Failed attempts

extension OutboxQueue {
    /// Records an attempt that ended without an outcome.
    mutating func deferred(
        _ id: UUID, _ course: SendVerdict.Course, _ execution: FeathersError.Execution, at now: Duration, random: Double
    ) {
        guard case .sending(let signIns)? = endAttempt(id, execution) else { return }
        switch course {
        case .waitForServer: gate.missed(at: now, retry, random: random)
        case .waitForSignIn:
            gate.reached()
            gate.refused(signIns: signIns)
        case .retry(let asked):
            gate.reached()
            items[id]?.delays += 1
            let delay = retry.delay(after: items[id]?.delays ?? 1, requested: asked, random: random)
            items[id]?.stage = .retrying(at: now + delay)
        case .again: break
        case .ask: if let write = items[id]?.write { fail(id, OutboxFailure(interrupted: write)) }
        }
        if let lane = items[id]?.write.lane { refreshLane(lane) }
    }

    /// Records an attempt that failed and needs a decision.
    mutating func failed(_ failure: OutboxFailure) {
        let id = failure.write.id
        let execution: FeathersError.Execution = failure.mayHaveExecuted ? .mayHaveExecuted : .answered
        guard case .sending? = endAttempt(id, execution) else { return }
        if failure.reason == .unknown { gate.suspect() } else { gate.reached() }
        fail(id, failure)
    }

    /// Makes a deferred write ready to be sent once its time has come.
    mutating func timePassed(_ id: UUID, at now: Duration) {
        guard case .retrying(let moment)? = items[id]?.stage, moment <= now else { return }
        items[id]?.stage = .waiting
        if let lane = items[id]?.write.lane { refreshLane(lane) }
    }

    private mutating func endAttempt(_ id: UUID, _ execution: FeathersError.Execution) -> Stage? {
        guard let item = items[id], item.stage.isSending else { return nil }
        sendingCount -= 1
        items[id]?.stage = .waiting
        items[id]?.execution = item.execution.and(execution)
        return item.stage
    }
}

// MARK: - Decisions

extension OutboxQueue {
    /// Records that a decision was made and is being stored. The write is not sent meanwhile.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such write, ``FeathersError/Code/conflict`` while it is
    ///   being sent.
    mutating func decisionBegan(_ id: UUID) throws(FeathersError) {
        guard let item = items[id] else { throw FeathersError(notInOutbox: id) }
        switch item.stage {
        case .sending, .deciding:
            throw FeathersError(
                .conflict, "The write '\(id.text)' is being sent: decide after the attempt", execution: .neverSent)
        case .waiting, .retrying: items[id]?.stage = .deciding(failed: false)
        case .failed: items[id]?.stage = .deciding(failed: true)
        }
        refreshLane(item.write.lane)
    }

    /// Records that a decision could not be stored: the write returns to its previous state.
    mutating func decisionFailed(_ id: UUID) {
        guard let item = items[id], case .deciding(let failed) = item.stage else { return }
        items[id]?.stage = failed ? .failed(isAsked: true) : .waiting
        references.replace(item.write, with: item.write)
        refreshLane(item.write.lane)
    }

    /// Prepares a write to be sent again, unchanged or with another key and other data.
    mutating func decided(_ id: UUID, _ replacement: Replacement? = nil) {
        guard let item = items[id], case .deciding = item.stage else { return }
        if let replacement {
            items[id]?.write.key = replacement.key
            items[id]?.write.data = replacement.data
            items[id]?.write.base = replacement.base
            items[id]?.write.entityTag = replacement.tag
            if let write = items[id]?.write { references.replace(item.write, with: write) }
        }
        items[id]?.stage = .waiting
        items[id]?.failure = nil
        items[id]?.delays = 0
        // The server may know the key, so the data stays.
        items[id]?.execution = replacement == nil && item.execution != .neverSent ? .answered : .neverSent
        refreshLane(item.write.lane)
    }
}

extension OutboxWrite {
    /// Returns whether the write is shown to a user: also one that was queued while no one was signed in.
    func belongs(to identity: Identity?) -> Bool { self.identity == nil || self.identity == identity }

    var ownLane: OutboxQueue.Lane { OutboxQueue.Lane(name: lane, identity: identity) }
}
