import Dispatch
import Synchronization

/// The deadlines of many exchanges on one timer.
///
/// Nearly every exchange ends long before its deadline, so coming and going must cost next to nothing: the timer is set only when a
/// deadline is earlier than the one it waits for, and left alone when an exchange goes.
///
/// Unchecked: the timer is configured and activated before anyone else sees it; libdispatch objects may be used from any thread, and
/// Dispatch's overlay for Linux merely lacks the annotation. All else is behind the lock.
final class DeadlineQueue: @unchecked Sendable {
    private struct State {
        var pending: [Int: (deadline: ContinuousClock.Instant, action: @Sendable () -> Void)] = [:]
        var nextID = 0
        /// When the timer fires next.
        var alarm: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let timer: any DispatchSourceTimer

    init() {
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler { [weak self] in self?.fire() }
        timer.activate()
    }

    deinit {
        timer.cancel()
    }

    /// Runs `action` at a time, unless it is removed before.
    func add(at deadline: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.pending[state.nextID] = (deadline, action)
            setAlarm(for: deadline, &state)
            return state.nextID
        }
    }

    func remove(_ id: Int) {
        state.withLock { $0.pending[id] = nil }
    }

    private func fire() {
        let due = state.withLock { state in
            let now = ContinuousClock.now
            let due = state.pending.filter { $0.value.deadline <= now }
            for id in due.keys { state.pending[id] = nil }
            state.alarm = nil
            if let next = state.pending.values.lazy.map(\.deadline).min() { setAlarm(for: next, &state) }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for (_, action) in due { action() }
    }

    private func setAlarm(for deadline: ContinuousClock.Instant, _ state: inout State) {
        if let alarm = state.alarm, alarm <= deadline { return }
        state.alarm = deadline
        timer.schedule(deadline: .now() + max(.zero, ContinuousClock.now.duration(to: deadline)).dispatchInterval)
    }
}
