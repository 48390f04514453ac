import FeathersCore
import FeathersSupport

/// Reports relations that a row is read with although its query does not include them, each once.
final class UnknownRelations: Sendable {
    private let diagnostics: Diagnostics
    private let path: String
    private let names = Locked<Set<String>>([])

    init(_ diagnostics: Diagnostics, path: String) { (self.diagnostics, self.path) = (diagnostics, path) }

    func report(_ name: String) {
        guard names.withLock({ $0.insert(name).inserted }) else { return }
        diagnostics.log(
            .warning, .calls,
            "A live query of service '\(path)' does not include the relation \(name), so its rows have no such records: "
                + "add including(_:)",
            [.path: .string(path)])
    }
}
