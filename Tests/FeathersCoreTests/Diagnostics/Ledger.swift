import FeathersCore
import FeathersSupport

/// A sink that keeps what it receives.
final class Ledger: DiagnosticSink {
    private let kept = Locked<[DiagnosticEvent]>([])

    func receive(_ event: DiagnosticEvent) { kept.withLock { $0.append(event) } }

    var events: [DiagnosticEvent] { kept.withLock { $0 } }
    var messages: [String] { events.map(\.message) }
    /// All that can be read of the events.
    var text: String { events.map { "\($0) \($0.attributes.map { "\($0.value)" })" }.joined(separator: "\n") }
}

extension DiagnosticEvent {
    /// The message without its duration, which differs from run to run.
    var timeless: String { message.split(separator: " (").first.map(String.init) ?? message }
}
