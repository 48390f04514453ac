/// How soon a server is polled again. A long-poll is meant to wait for packets: a server that answers at once with nothing useful would be
/// asked as fast as the machine can.
struct PollingPace: Sendable {
    /// An answer that took as long as this has kept a pace of its own, whatever it brought.
    static let leastWait = Duration.milliseconds(100)
    static let longestRest = Duration.seconds(1)

    /// The last rest; nil if the last answer was not empty, or not early.
    private var rest: Duration?

    /// - Parameter duration: how long the server took for its answer.
    /// - Returns: how long to wait before the next poll. The first early answer without a message is followed at once, since servers let a
    ///   poll return that way; each further one doubles the wait.
    mutating func answered(_ packets: [EnginePacket], after duration: Duration) -> Duration {
        guard duration < Self.leastWait, !packets.contains(where: \.isMessage) else {
            rest = nil
            return .zero
        }
        let next = rest.map { min(max($0 * 2, Self.leastWait), Self.longestRest) } ?? .zero
        rest = next
        return next
    }
}

extension EnginePacket {
    fileprivate var isMessage: Bool {
        switch self {
        case .message, .binary: true
        default: false
        }
    }
}
