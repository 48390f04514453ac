/// The pace of polling. A long-poll is meant to wait for packets. Without a delay, a server that responds immediately
/// with nothing useful would be polled as fast as possible.
struct PollingPace: Sendable {
    /// The minimum time for a response that needs no delay after it, regardless of its content.
    static let leastWait = Duration.milliseconds(100)
    static let longestRest = Duration.seconds(1)

    /// The last delay, or nil if the last response was not empty or not early.
    private var rest: Duration?

    /// Returns the delay before the next poll after a response that took `duration`. The first early response without a
    /// message is followed immediately, because servers release a poll that way. Each further one doubles the delay.
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
