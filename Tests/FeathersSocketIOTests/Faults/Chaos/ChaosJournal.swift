import FeathersCore
import FeathersNetworking
import FeathersSupport

/// What happened while chaos reigned, kept by everybody who saw it.
final class ChaosJournal: Sendable {
    struct Entries: Sendable {
        var outcomes: [String: Int] = [:]
        var weather: [String: Int] = [:]
        var gaps: [String: Int] = [:]
        var events = 0
        var connections = 0
        var longestOverrun = Duration.zero
        var violations: [String] = []
        var memory: [Int] = []
        fileprivate var deadlines: [Int64: ContinuousClock.Instant] = [:]
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
        note { $0.deadlines[number] = deadline }
    }

    func ended(_ number: Int64, _ outcome: String) {
        let now = ContinuousClock.now
        note { entries in
            entries.outcomes[outcome, default: 0] += 1
            guard let deadline = entries.deadlines.removeValue(forKey: number) else { return }
            entries.longestOverrun = max(entries.longestOverrun, now - deadline)
        }
    }

    /// Notes the calls whose time is over and that have not ended, each once.
    func findOverdue() {
        let limit = ContinuousClock.now - ChaosSettings.allowance
        let overdue = entries.withLock { entries in
            let overdue = entries.deadlines.filter { $0.value < limit }.keys
            for number in overdue { entries.deadlines[number] = nil }
            return Array(overdue)
        }
        for number in overdue { violated("call \(number) has not ended by its deadline") }
    }
}
