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

    var items: [UUID: Item] = [:]
    var lanes: [String: [UUID]] = [:]
    var ready = ReadyLanes()
    private var addedCount = 0
    var sendingCount = 0
    /// The writes that need a decision and nobody has been asked about.
    private var unasked: [UUID] = []

    private let limit: Int
    let retry: OutboxRetry
    var gate = OutboxGate()

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
        // Those who kept its time have ended with the last life.
        for (id, item) in items {
            guard case .retrying = item.stage else { continue }
            items[id]?.stage = .waiting
            refreshLane(item.write.lane)
        }
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

    mutating func fail(_ id: UUID, _ failure: OutboxFailure) {
        items[id]?.failure = failure
        items[id]?.stage = .failed(isAsked: false)
        unasked.append(id)
    }

    /// Puts a lane in line whose first write may be sent, and takes out one whose may not.
    mutating func refreshLane(_ lane: String) {
        guard let id = lanes[lane]?.first, items[id]?.stage == .waiting else { return ready.remove(lane) }
        ready.append(lane)
    }
}
