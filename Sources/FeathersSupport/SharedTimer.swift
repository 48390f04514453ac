import Dispatch

/// Settles promises at their deadlines, with one timer of Dispatch for all of them.
///
/// A timer of its own for each would stay until its deadline after it was cancelled, and thousands that are due
/// together would delay each other.
package final class SharedTimer: Sendable {
    package struct Entry: Sendable {
        fileprivate let id: Int
        fileprivate let timer: SharedTimer

        package func cancel() { timer.cancel(id) }
    }

    private struct State: Sendable {
        var deadlines = DeadlineTable<Int>()
        var promises: [Int: Promise<Void>] = [:]
        var lastID = 0
        /// When Dispatch calls ``expire(_:)`` next.
        var alarm: ContinuousClock.Instant?

        /// Returns when to call it next; nil if that is already arranged.
        mutating func nextAlarm() -> ContinuousClock.Instant? {
            guard let earliest = deadlines.earliest, alarm.map({ earliest < $0 }) ?? true else { return nil }
            alarm = earliest
            return earliest
        }
    }

    /// The timer of the process.
    static let process = SharedTimer()

    private let state = Locked(State())

    /// Settles a promise at a deadline, unless the entry is cancelled earlier.
    func settle(_ promise: Promise<Void>, at deadline: ContinuousClock.Instant) -> Entry {
        let (id, alarm) = state.withLock { state in
            state.lastID += 1
            state.promises[state.lastID] = promise
            state.deadlines.set(deadline, for: state.lastID)
            return (state.lastID, state.nextAlarm())
        }
        set(alarm)
        return Entry(id: id, timer: self)
    }

    private func cancel(_ id: Int) {
        state.withLock { state in
            if state.promises.removeValue(forKey: id) != nil { state.deadlines.set(nil, for: id) }
        }
    }

    private func set(_ alarm: ContinuousClock.Instant?) {
        guard let alarm else { return }
        // Rounded up, so that the deadline has passed by then.
        let milliseconds = Int(max(0, (alarm - .now) / .milliseconds(1))) + 1
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { self.expire(alarm) }
    }

    private func expire(_ alarm: ContinuousClock.Instant) {
        let (due, next) = state.withLock { state in
            // Another alarm was set for an earlier deadline.
            guard state.alarm == alarm else { return ([Promise<Void>](), ContinuousClock.Instant?.none) }
            state.alarm = nil
            let due = state.deadlines.due(at: .now).compactMap { state.promises.removeValue(forKey: $0) }
            return (due, state.nextAlarm())
        }
        for promise in due { promise.resolve(()) }
        set(next)
    }
}
