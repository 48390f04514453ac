import FeathersSupport

/// What a history has done and found; read by the watchdog too.
final class HistoryReport: Sendable {
    private struct State {
        var steps: [HistoryStep: Int] = [:]
        var trace: [String] = []
        var violations: [String] = []
        var laws: Set<String> = []
        /// The names of what was drawn.
        var traits = ""
    }

    let title: String
    private let state = Locked(State())

    init(_ title: String) {
        self.title = title
    }

    var steps: [HistoryStep: Int] { state.withLock { $0.steps } }
    var violations: [String] { state.withLock { $0.violations } }

    func begin(with traits: Set<HistoryTrait>) {
        let names = HistoryTrait.allCases.filter(traits.contains).map(\.rawValue).joined(separator: ", ")
        state.withLock { $0.traits = names }
    }

    func begin(_ step: HistoryStep) {
        state.withLock { state in
            state.steps[step, default: 0] += 1
            state.trace.append(step.rawValue)
        }
    }

    /// Adds to the last step what was chosen.
    func note(_ detail: @autoclosure () -> String) {
        let detail = detail()
        state.withLock { $0.trace[max($0.trace.count - 1, 0)] += " \(detail)" }
    }

    func violate(_ law: String) {
        state.withLock { state in
            guard state.laws.insert(law).inserted else { return }
            state.violations.append(
                "\(title) (\(state.traits)), step \(state.trace.count): \(law)\n    \(state.trace.suffix(16).joined(separator: "\n    "))"
            )
        }
    }
}
