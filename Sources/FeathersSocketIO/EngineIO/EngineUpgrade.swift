/// The move of a session from polling to a WebSocket: `2probe`, `3probe`, polling at rest, `5`.
struct EngineUpgrade: Sendable {
    enum Action: Sendable, Hashable {
        case nothing
        case sendProbe
        /// Let the poll and the post under way end, and begin no others.
        case pausePolling
        /// Send `5`, then what has waited, and use the WebSocket from now on.
        case switchOver
        /// Close the WebSocket and stay with polling.
        case abandon(String)
        /// The session ends where it is now.
        case closePolling, closeWebSocket
    }

    private enum State { case idle, probing, pausing, upgraded, abandoned }

    private var state = State.idle
    private var closeIsRequested = false

    /// Whether frames wait, since polling sends no more and the WebSocket not yet.
    var holdsFrames: Bool { state == .pausing }
    var isUpgraded: Bool { state == .upgraded }

    mutating func webSocketOpened() -> Action {
        guard state == .idle else { return .nothing }
        state = .probing
        return .sendProbe
    }

    mutating func received(_ packet: EnginePacket) -> Action {
        guard state == .probing else { return .nothing }
        guard packet == .pong("probe") else { return failed("The server did not answer the probe") }
        state = .pausing
        return .pausePolling
    }

    mutating func pollingPaused() -> Action {
        guard state == .pausing else { return .nothing }
        state = .upgraded
        return closeIsRequested ? .closeWebSocket : .switchOver
    }

    /// The WebSocket could not be opened, was lost, or took too long.
    mutating func failed(_ why: String) -> Action {
        guard state == .idle || state == .probing else { return .nothing }
        state = .abandoned
        return .abandon(why)
    }

    /// The session shall end. While polling comes to rest this waits, since both ends are half way.
    mutating func closeRequested() -> Action {
        switch state {
        case .pausing:
            closeIsRequested = true
            return .nothing
        case .upgraded: return .closeWebSocket
        case .idle, .probing, .abandoned:
            state = .abandoned
            return .closePolling
        }
    }
}
