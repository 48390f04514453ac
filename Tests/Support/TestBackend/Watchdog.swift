import Foundation
import Synchronization

/// Ends a child process that takes too long.
final class Watchdog: Sendable {
    private enum State: Int, AtomicRepresentable { case waiting, fired, cancelled }

    private let state = Atomic(State.waiting)

    init(after limit: TimeInterval, process: pid_t) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
            // Once cancelled, the number may belong to some other process.
            guard let self, self.move(to: .fired) else { return }
            kill(process, SIGTERM)
        }
    }

    var hasFired: Bool { state.load(ordering: .acquiring) == .fired }

    func cancel() { _ = move(to: .cancelled) }

    private func move(to next: State) -> Bool {
        state.compareExchange(expected: .waiting, desired: next, ordering: .acquiringAndReleasing).exchanged
    }
}
