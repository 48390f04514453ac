import FeathersCore
import FeathersNetworking
import FeathersSupport

/// What happened while chaos reigned, kept by everybody who saw it.
final class ChaosJournal: Sendable {
    /// A call that has not ended.
    fileprivate struct Call: Sendable {
        let deadline: ContinuousClock.Instant
        /// How often it was seen after its deadline.
        var sightings = 0
    }

    struct Entries: Sendable {
        var outcomes: [String: Int] = [:]
        var weather: [String: Int] = [:]
        var gaps: [String: Int] = [:]
        var events = 0
        var connections = 0
        var longestOverrun = Duration.zero
        var violations: [String] = []
        var memory: [Int] = []
        fileprivate var calls: [Int64: Call] = [:]
    }

    /// So many are told; more tell no more.
    private static let violationLimit = 20

    private let entries = Locked(Entries())

    var current: Entries { entries.withLock { $0 } }

    func note(_ change: (inout Entries) -> Void) {
        entries.withLock { change(&$0) }
    }

    func violated(_ what: @autoclosure () -> String) {
        let text = what()
        note { if $0.violations.count < Self.violationLimit { $0.violations.append(text) } }
    }

    func began(_ number: Int64, deadline: ContinuousClock.Instant) {
        note { $0.calls[number] = Call(deadline: deadline) }
    }

    func ended(_ number: Int64, _ outcome: String) {
        let now = ContinuousClock.now
        note { entries in
            entries.outcomes[outcome, default: 0] += 1
            guard let call = entries.calls.removeValue(forKey: number) else { return }
            entries.longestOverrun = max(entries.longestOverrun, now - call.deadline)
        }
    }

    /// Looks for calls whose time is over, and notes those that were seen too often, each once.
    func findOverdue() {
        let now = ContinuousClock.now
        let overdue = entries.withLock { entries in
            for (number, call) in entries.calls where call.deadline < now { entries.calls[number]?.sightings += 1 }
            let overdue = entries.calls.filter { $0.value.sightings > ChaosSettings.sightings }.keys
            for number in overdue { entries.calls[number] = nil }
            return Array(overdue)
        }
        for number in overdue { violated("call \(number) has not ended by its deadline") }
    }
}
