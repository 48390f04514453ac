import FeathersSupport

/// What a local-first history has done and found.
final class LocalReport: Sendable {
    struct Counts: Sendable {
        var steps: [LocalStep: Int] = [:]
        /// The histories with each trait.
        var traits: [LocalTrait: Int] = [:]
        var checks = 0
        var rows = 0

        mutating func add(_ other: Counts) {
            steps.merge(other.steps, uniquingKeysWith: +)
            traits.merge(other.traits, uniquingKeysWith: +)
            checks += other.checks
            rows += other.rows
        }
    }

    private struct State {
        var counts = Counts()
        /// The names of what was drawn.
        var traits = ""
        var trace = ["begin"]
        var violations: [String] = []
    }

    private let title: String
    private let state = Locked(State())

    init(_ title: String) { self.title = title }

    var counts: Counts { state.withLock { $0.counts } }
    var violations: [String] { state.withLock { $0.violations } }
    var trace: [String] { state.withLock { $0.trace } }

    func begin(with traits: Set<LocalTrait>) {
        state.withLock { state in
            state.traits = traits.names
            for trait in traits { state.counts.traits[trait] = 1 }
        }
    }

    func begin(_ step: LocalStep) {
        state.withLock { state in
            state.counts.steps[step, default: 0] += 1
            state.trace.append(step.rawValue)
        }
    }

    /// Adds to the last step what was chosen.
    func note(_ detail: String) { state.withLock { $0.trace[$0.trace.count - 1] += " \(detail)" } }

    func check(rows: Int) {
        state.withLock { state in
            state.counts.checks += 1
            state.counts.rows += rows
        }
    }

    func violate(_ laws: [String]) { for law in laws { violate(law) } }

    func violate(_ law: String) {
        state.withLock { state in
            state.violations.append(
                """
                \(title) (\(state.traits)), step \(state.trace.count - 1): \(law)
                    \(state.trace.joined(separator: "\n    "))
                """
            )
        }
    }
}
