/// The calls that wait: to be sent, or for their acknowledgement.
///
/// Every call leaves the table exactly once, by an acknowledgement, its deadline, its cancellation or the end of its connection.
struct CallTable<Waiter> {
    struct Call {
        let waiter: Waiter
        let deadline: Duration?
        /// The frame that is still to be sent; nil once it was.
        var unsent: EngineFrame?
        /// Kept so that a frame which never left can be sent over the next connection.
        let frame: EngineFrame
        /// Whether the call is given up with its connection, even where its frame never left.
        var isVolatile = false
    }

    private var calls: [Int: Call] = [:]
    private var queue: [Int] = []
    private var queuedCount = 0
    private var deadlines = DeadlineHeap()
    private let queueLimit: Int

    /// - Parameter queueLimit: how many calls may wait to be sent.
    init(queueLimit: Int = .max) {
        self.queueLimit = queueLimit
    }

    var count: Int { calls.count }
    var queued: Int { queuedCount }
    /// How many deadlines are remembered, those of calls that ended included.
    var deadlineCount: Int { deadlines.count }
    /// When a call must be looked at next; nil where none has a deadline.
    var nextDeadline: Duration? { deadlines.first }

    /// Adds a call that is sent now.
    mutating func addSent(_ id: Int, waiter: Waiter, frame: EngineFrame, deadline: Duration?, isVolatile: Bool = false) {
        add(id, Call(waiter: waiter, deadline: deadline, unsent: nil, frame: frame, isVolatile: isVolatile))
    }

    /// Adds a call that is sent later.
    /// - Returns: false, and nothing is added, where as many wait as may.
    mutating func addQueued(_ id: Int, waiter: Waiter, frame: EngineFrame, deadline: Duration?) -> Bool {
        guard queuedCount < queueLimit else { return false }
        add(id, Call(waiter: waiter, deadline: deadline, unsent: frame, frame: frame))
        queue.append(id)
        queuedCount += 1
        return true
    }

    private mutating func add(_ id: Int, _ call: Call) {
        calls[id] = call
        guard let deadline = call.deadline else { return }
        deadlines.insert(deadline, for: id)
        // Calls mostly end long before their deadline: what they leave behind must not grow without bound.
        if deadlines.count > 2 * calls.count + 64 {
            deadlines = DeadlineHeap(calls.compactMap { id, call in call.deadline.map { ($0, id) } })
        }
    }

    /// Takes the frames to send, in the order the calls were made; their calls count as sent from now on.
    ///
    /// - Parameter limit: how many bytes a frame may have; calls with larger ones are taken out and returned.
    mutating func takeQueue(limit: Int) -> (frames: [EngineFrame], oversized: [Call]) {
        var frames: [EngineFrame] = []
        var oversized: [Call] = []
        for id in queue {
            guard let call = calls[id], let frame = call.unsent else { continue }
            if frame.size > limit {
                oversized.append(call)
                calls[id] = nil
            } else {
                calls[id]?.unsent = nil
                frames.append(frame)
            }
        }
        queue = []
        queuedCount = 0
        return (frames, oversized)
    }

    /// Who waits for the answer to a call that was sent.
    func waiter(for id: Int) -> Waiter? {
        calls[id].flatMap { $0.unsent == nil ? $0.waiter : nil }
    }

    /// Takes the call a server has answered; nil for an id nobody waits for, or one that was never sent.
    mutating func acknowledged(_ id: Int) -> Waiter? {
        guard let index = calls.index(forKey: id), calls.values[index].unsent == nil else { return nil }
        return calls.remove(at: index).value.waiter
    }

    /// Takes a call its caller gave up.
    mutating func cancelled(_ id: Int) -> Call? {
        guard let call = calls.removeValue(forKey: id) else { return nil }
        if call.unsent != nil { removedFromQueue() }
        return call
    }

    /// Takes the calls that were sent and can not be answered any more; what never left stays, first in the queue, unless it is volatile.
    /// - Parameter unsent: ids of calls whose frames never left, in their order.
    mutating func connectionLost(unsent: [Int]) -> [Call] {
        var kept: [Int] = []
        for id in unsent {
            guard let call = calls[id], call.unsent == nil else { continue }
            calls[id]?.unsent = call.frame
            if !call.isVolatile { kept.append(id) }
        }
        queue = kept + queue
        queuedCount += kept.count
        let lost = calls.filter { $0.value.unsent == nil || $0.value.isVolatile }.sorted { $0.key < $1.key }
        for (id, _) in lost { calls[id] = nil }
        return lost.map(\.value)
    }

    /// Takes every call.
    mutating func takeAll() -> [Call] {
        defer { (calls, queue, queuedCount, deadlines) = ([:], [], 0, DeadlineHeap()) }
        return calls.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Takes the calls whose deadline has passed.
    mutating func expired(at now: Duration) -> [Call] {
        var expired: [Call] = []
        while let (deadline, id) = deadlines.removeFirst(notAfter: now) {
            // Entries outlive their calls.
            guard let call = calls[id], call.deadline == deadline else { continue }
            if let call = cancelled(id) { expired.append(call) }
        }
        while let (_, id) = deadlines.firstEntry, calls[id] == nil { deadlines.removeFirst() }
        return expired
    }

    private mutating func removedFromQueue() {
        queuedCount -= 1
        if queue.count > 2 * queuedCount + 64 { queue.removeAll { calls[$0]?.unsent == nil } }
    }
}

extension CallTable: Sendable where Waiter: Sendable {}
extension CallTable.Call: Sendable where Waiter: Sendable {}
