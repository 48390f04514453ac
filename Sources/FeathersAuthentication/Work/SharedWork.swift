/// What a task that takes part in shared work does next.
enum WorkTurn<Outcome: Sendable>: Sendable {
    /// It does the work itself, under this number.
    case perform(Int)
    /// It waits; an `offer` is a performance for the runner to do.
    case wait(offer: Int?)
    case over(Outcome)
    /// Nobody knows of such work, or not any more.
    case unknown
}

/// Who does the pieces of work that several tasks wait for, and who waits: without input or output.
///
/// A piece of work is done by one task at a time, its performer; every performance has a number of its own. When a performer gives up, the
/// next one takes over, so that nobody's cancellation costs the others what they wait for.
struct SharedWork<Waiter: Sendable, Outcome: Sendable>: Sendable {
    private struct Piece: Sendable {
        /// How many tasks take part, waiting or performing.
        var participants = 0
        var performance: Int?
        /// Whether another performer may take the work out of the present one's hands.
        var isInterruptible = true
        /// Whether only who serves the connection may do it.
        var isForConnection = false
        var waiters: [Int: Waiter] = [:]
        var outcome: Outcome?
    }

    /// Who does the work after its performer gave it up.
    enum Succession {
        case nobody
        /// The runner, under this number.
        case runner(Int)
        /// One that waited, under this number.
        case waiter(Waiter, Int)
        /// Nobody takes part any more.
        case abandoned
    }

    private var pieces: [Int: Piece] = [:]
    private var lastNumber = 0

    var isEmpty: Bool { pieces.isEmpty }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    mutating func open(_ id: Int, isForConnection: Bool = false) {
        pieces[id] = Piece(isForConnection: isForConnection)
    }

    /// A task begins to take part; it must ``leave(_:)``.
    mutating func enter(_ id: Int) {
        pieces[id]?.participants += 1
    }

    /// A task that takes part asks what to do.
    mutating func takeTurn(_ id: Int, _ waiterID: Int, _ waiter: Waiter, hasRunner: Bool) -> WorkTurn<Outcome> {
        guard var piece = pieces[id] else { return .unknown }
        if let outcome = piece.outcome { return .over(outcome) }
        defer { pieces[id] = piece }
        guard piece.performance == nil, !piece.isForConnection else {
            piece.waiters[waiterID] = waiter
            return .wait(offer: nil)
        }
        let number = nextNumber()
        piece.performance = number
        guard hasRunner else { return .perform(number) }
        piece.waiters[waiterID] = waiter
        return .wait(offer: number)
    }

    mutating func removeWaiter(_ id: Int, _ waiterID: Int) -> Waiter? {
        pieces[id]?.waiters.removeValue(forKey: waiterID)
    }

    /// A task takes part no longer.
    /// - Returns: whether nobody is left to do the work.
    mutating func leave(_ id: Int) -> Bool {
        guard var piece = pieces[id] else { return false }
        piece.participants -= 1
        let isOver = piece.outcome != nil
        let isAbandoned = piece.participants <= 0 && piece.performance == nil && !piece.isForConnection && !isOver
        pieces[id] = piece.participants <= 0 && isOver ? nil : piece
        return isAbandoned
    }

    /// A task that does not take part wants to do the work.
    /// - Parameter takesOver: whether also where somebody is at it already, provided that may be interrupted.
    /// - Returns: its number and that of the performance which ends with it; nil where the work is not to be had.
    mutating func claim(_ id: Int, takesOver: Bool) -> (number: Int, interrupted: Int?)? {
        guard var piece = pieces[id], piece.outcome == nil else { return nil }
        let interrupted = piece.performance
        guard interrupted == nil || (takesOver && piece.isInterruptible) else { return nil }
        let number = nextNumber()
        (piece.performance, piece.isInterruptible) = (number, true)
        pieces[id] = piece
        return (number, interrupted)
    }

    func isPerformed(_ id: Int, by number: Int) -> Bool { pieces[id]?.performance == number }

    mutating func setInterruptible(_ id: Int, _ number: Int, _ isInterruptible: Bool) {
        if isPerformed(id, by: number) { pieces[id]?.isInterruptible = isInterruptible }
    }

    /// The performer gives up without an end.
    mutating func giveUp(_ id: Int, _ number: Int, hasRunner: Bool) -> Succession {
        guard var piece = pieces[id], piece.performance == number else { return .nobody }
        defer { pieces[id] = piece }
        (piece.performance, piece.isInterruptible) = (nil, true)
        guard !piece.isForConnection else { return .nobody }
        if piece.participants <= 0 { return .abandoned }
        let next = nextNumber()
        if hasRunner {
            piece.performance = next
            return .runner(next)
        }
        // The one that waits longest.
        guard let waiterID = piece.waiters.keys.min(), let waiter = piece.waiters.removeValue(forKey: waiterID) else { return .nobody }
        piece.performance = next
        return .waiter(waiter, next)
    }

    /// From now on the work is done by who serves the connection.
    mutating func bindToConnection(_ id: Int) {
        pieces[id]?.isForConnection = true
        pieces[id]?.performance = nil
    }

    /// Nobody serves the connection any more.
    /// - Returns: work that others have to do now, as if its performer of this number had given up.
    mutating func connectionEnded() -> [(id: Int, number: Int)] {
        var vacant: [(id: Int, number: Int)] = []
        for (id, piece) in pieces where piece.isForConnection && piece.outcome == nil {
            pieces[id]?.isForConnection = false
            guard piece.performance == nil else { continue }
            let number = nextNumber()
            pieces[id]?.performance = number
            vacant.append((id, number))
        }
        return vacant
    }

    /// The work is over.
    /// - Returns: who waited for that.
    mutating func settle(_ id: Int, _ outcome: Outcome) -> [Waiter] {
        guard var piece = pieces[id], piece.outcome == nil else { return [] }
        let waiters = piece.waiters.sorted { $0.key < $1.key }.map(\.value)
        (piece.outcome, piece.waiters, piece.performance) = (outcome, [:], nil)
        pieces[id] = piece.participants <= 0 ? nil : piece
        return waiters
    }
}
