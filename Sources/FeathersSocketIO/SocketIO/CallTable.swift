/// The calls waiting to be sent or acknowledged. Every call leaves the table exactly once: through its acknowledgement,
/// its deadline, its cancellation, or the end of its connection.
struct CallTable<Waiter> {
    /// The queues in which calls wait to be sent.
    enum Lane: Int, Sendable, CaseIterable {
        /// Calls that sign the connection in or out. They are sent as soon as the namespace is joined.
        case session
        /// All other calls. They are sent when the connection is prepared.
        case ordinary
    }

    private struct Queue: Sendable {
        /// The calls in order. Entries may outlive cancelled calls.
        var ids: [Int] = []
        var count = 0
        /// The size of the waiting frames, in bytes.
        var bytes = 0
    }

    struct Call {
        let waiter: Waiter
        let deadline: Duration?
        /// The frame until it is sent, then nil.
        var unsent: EngineFrame?
        /// Retained so that a frame that was never sent can be sent over the next connection.
        let frame: EngineFrame
        /// Whether the call fails with its connection, even if its frame was never sent.
        var isVolatile = false
        var lane = Lane.ordinary
    }

    private var calls: [Int: Call] = [:]
    private var queues = Lane.allCases.map { _ in Queue() }
    private(set) var deadlines = DeadlineHeap()
    private let queueLimit: Int
    private let byteLimit: Int

    /// Creates an empty table. The limits on waiting calls, and on the bytes of their frames, apply to each lane.
    init(queueLimit: Int = .max, byteLimit: Int = .max) {
        self.queueLimit = queueLimit
        self.byteLimit = byteLimit
    }

    var count: Int { calls.count }
    var queued: Int { queues.reduce(0) { $0 + $1.count } }
    var nextDeadline: Duration? { deadlines.first }

    mutating func addSent(
        _ id: Int, waiter: Waiter, frame: EngineFrame, deadline: Duration?, isVolatile: Bool = false,
        lane: Lane = .ordinary
    ) {
        add(id, Call(waiter: waiter, deadline: deadline, unsent: nil, frame: frame, isVolatile: isVolatile, lane: lane))
    }

    /// Adds a call to send later. Returns `false` if its lane is full.
    mutating func addQueued(_ id: Int, waiter: Waiter, frame: EngineFrame, deadline: Duration?, lane: Lane = .ordinary)
        -> Bool
    {
        guard queues[lane.rawValue].count < queueLimit, frame.size <= byteLimit - queues[lane.rawValue].bytes else {
            return false
        }
        add(id, Call(waiter: waiter, deadline: deadline, unsent: frame, frame: frame, lane: lane))
        queues[lane.rawValue].ids.append(id)
        queues[lane.rawValue].count += 1
        queues[lane.rawValue].bytes += frame.size
        return true
    }

    private mutating func add(_ id: Int, _ call: Call) {
        calls[id] = call
        guard let deadline = call.deadline else { return }
        deadlines.insert(deadline, for: id)
        // Most calls end long before their deadlines. The stale entries that they leave behind must not grow without
        // bound.
        if deadlines.count > 2 * calls.count + 64 {
            deadlines = DeadlineHeap(calls.compactMap { id, call in call.deadline.map { ($0, id) } })
        }
    }

    /// Takes the frames of a lane, in the order the calls were made, and marks their calls as sent. Removes and returns
    /// the calls for which `refusal` returns a reason not to send them.
    mutating func takeQueue<Refusal>(
        _ lane: Lane = .ordinary, refusal: (Call) -> Refusal?
    ) -> (frames: [EngineFrame], refused: [(call: Call, why: Refusal)]) {
        var frames: [EngineFrame] = []
        var refused: [(call: Call, why: Refusal)] = []
        for id in queues[lane.rawValue].ids {
            guard let call = calls[id], let frame = call.unsent else { continue }
            if let why = refusal(call) {
                refused.append((call, why))
                calls[id] = nil
            } else {
                calls[id]?.unsent = nil
                frames.append(frame)
            }
        }
        queues[lane.rawValue] = Queue()
        return (frames, refused)
    }

    /// Takes the matching calls that are waiting to be sent, in the order they were made.
    mutating func takeUnsent(where isMatch: (Call) -> Bool) -> [Call] {
        let matches = calls.filter { $0.value.unsent != nil && isMatch($0.value) }.sorted { $0.key < $1.key }
        return matches.compactMap { cancelled($0.key) }
    }

    /// Takes the call that a server has acknowledged. Returns nil if the id is unknown or the call was never sent.
    mutating func acknowledged(_ id: Int) -> Waiter? {
        guard let index = calls.index(forKey: id), calls.values[index].unsent == nil else { return nil }
        let waiter = calls.remove(at: index).value.waiter
        removeStaleDeadlines()
        return waiter
    }

    mutating func cancelled(_ id: Int) -> Call? {
        guard let call = calls.removeValue(forKey: id) else { return nil }
        if call.unsent != nil { removedFromQueue(call) }
        return call
    }

    /// Takes the calls that were sent and can no longer be acknowledged. The calls in `unsent` were never sent: unless
    /// volatile, they return to the front of their lanes, in order.
    mutating func connectionLost(unsent: [Int]) -> [Call] {
        var kept = Lane.allCases.map { _ in [Int]() }
        for id in unsent {
            guard let call = calls[id], call.unsent == nil else { continue }
            calls[id]?.unsent = call.frame
            if call.isVolatile { continue }
            kept[call.lane.rawValue].append(id)
            queues[call.lane.rawValue].bytes += call.frame.size
        }
        for (lane, ids) in kept.enumerated() {
            queues[lane].ids.insert(contentsOf: ids, at: 0)
            queues[lane].count += ids.count
        }
        let lost = calls.filter { $0.value.unsent == nil || $0.value.isVolatile }.sorted { $0.key < $1.key }
        for (id, _) in lost { calls[id] = nil }
        return lost.map(\.value)
    }

    mutating func takeAll() -> [Call] {
        defer { (calls, queues, deadlines) = ([:], Lane.allCases.map { _ in Queue() }, DeadlineHeap()) }
        return calls.sorted { $0.key < $1.key }.map(\.value)
    }

    mutating func expired(at now: Duration) -> [Call] {
        var expired: [Call] = []
        while let (deadline, id) = deadlines.removeFirst(notAfter: now) {
            // Entries may outlive their calls.
            guard let call = calls[id], call.deadline == deadline else { continue }
            if let call = cancelled(id) { expired.append(call) }
        }
        removeStaleDeadlines()
        return expired
    }

    /// Removes the deadlines of ended calls from the front. Those of 64 calls would take 2 KB for each connection.
    private mutating func removeStaleDeadlines() {
        while let (_, id) = deadlines.firstEntry, calls[id] == nil { deadlines.removeFirst() }
    }

    private mutating func removedFromQueue(_ call: Call) {
        let lane = call.lane.rawValue
        queues[lane].count -= 1
        queues[lane].bytes -= call.frame.size
        let queue = queues[lane]
        if queue.ids.count > 2 * queue.count + 64 { queues[lane].ids = queue.ids.filter { calls[$0]?.unsent != nil } }
    }
}

extension CallTable: Sendable where Waiter: Sendable {}
extension CallTable.Call: Sendable where Waiter: Sendable {}

/// A binary heap of deadlines, with the earliest first.
struct DeadlineHeap: Sendable {
    private var entries: [(deadline: Duration, id: Int)] = []

    init(_ entries: [(Duration, Int)] = []) {
        // A sorted array is a valid heap.
        self.entries = entries.sorted { $0.0 < $1.0 }.map { (deadline: $0.0, id: $0.1) }
    }

    var count: Int { entries.count }
    var first: Duration? { entries.first?.deadline }
    var firstEntry: (deadline: Duration, id: Int)? { entries.first }

    mutating func insert(_ deadline: Duration, for id: Int) {
        var child = entries.count
        entries.append((deadline, id))
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].deadline < entries[parent].deadline else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the first entry if it is due.
    mutating func removeFirst(notAfter now: Duration) -> (deadline: Duration, id: Int)? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        removeFirst()
        return first
    }

    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            let right = left + 1
            guard left < entries.count else { return }
            let child = right < entries.count && entries[right].deadline < entries[left].deadline ? right : left
            guard entries[child].deadline < entries[parent].deadline else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}
