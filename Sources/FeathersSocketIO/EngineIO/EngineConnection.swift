/// An open Engine.IO session over some transport: packets in, frames out, both in order.
protocol EngineConnection: Sendable {
    /// What the server said when the session was opened.
    var handshake: EngineHandshake { get }

    /// Delivers packets until the session ends or the task is cancelled; called once.
    ///
    /// `handler` is called by one thread at a time, in the order of arrival, never after this has returned, and must not block.
    /// - Returns: how the session ended.
    func run(_ handler: @escaping @Sendable (EnginePacket) -> Void) async -> EngineClosure

    /// Puts frames into the queue and returns; the order of calls is the order on the wire.
    /// - Throws: ``EngineSendError`` where not all of the frames were taken.
    func sendNow(_ frames: [EngineFrame]) throws(EngineSendError)

    /// Sends what is queued, says good-bye and ends the session.
    func close()
}

/// How a session ended.
struct EngineClosure: Sendable {
    enum Reason: Sendable, Hashable {
        /// By ``EngineConnection/close()``.
        case closed
        /// The other side closed without a word.
        case lost
        /// Something went wrong; the text says what.
        case failed(String)
        /// What came was no Engine.IO.
        case invalid(String)
    }

    var reason: Reason
    /// The calls whose frames were accepted and never left.
    var unsent: [Int] = []
}

/// Why frames were not taken.
struct EngineSendError: Error, Hashable {
    enum Reason: Sendable, Hashable {
        /// The session is closing or closed.
        case closed
        /// More is queued than the connection keeps.
        case queueFull
    }

    var reason: Reason
    /// How many of the frames, from the first on, were taken all the same.
    var taken = 0
}
