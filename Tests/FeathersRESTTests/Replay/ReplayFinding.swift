/// One way in which our replay of a case differs from the recording.
struct ReplayFinding: Sendable, CustomStringConvertible {
    enum Aspect: Sendable, Hashable {
        /// Refused with default options, sent with the query's limits off.
        case refusedByDefault
        /// Refused for good: only the answer was replayed.
        case refused
        /// The client dropped a part of the query the caller gave.
        case droppedFromQuery
        case method
        case target
        case body
        case header(String)
        /// What one exchange resolved to.
        case result
        /// A field of the error one exchange ended in.
        case error(String)
        /// What the whole case gave its caller.
        case outcome
        /// A field of the error the whole case ended in.
        case outcomeError(String)
        /// The recording has no exchange at all.
        case noTraffic
        /// The recorded body is clipped and could not be rebuilt.
        case clipped
    }

    let recordedCase: RecordedCase
    let aspect: Aspect
    let recorded: String
    let ours: String

    var description: String {
        "\(recordedCase.id): \(aspect)\n  recorded: \(recorded.prefix(400))\n  ours:     \(ours.prefix(400))"
    }
}
