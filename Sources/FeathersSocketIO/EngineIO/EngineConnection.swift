/// An open Engine.IO session over one of its transports: packets in, frames out, both in order.
protocol EngineConnection: Sendable {
    var handshake: EngineHandshake { get }

    /// Delivers packets until the session ends or the task is cancelled; called once. `handler` is called by one thread at a time, in the
    /// order of arrival, and never after this method returns. It must not block.
    /// - Returns: how the session ended.
    func run(_ handler: @escaping @Sendable (EnginePacket) -> Void) async -> EngineClosure

    /// Queues frames and returns. The order of calls is the order on the wire.
    /// - Throws: ``EngineSendError`` where not all of the frames were taken.
    func sendNow(_ frames: [EngineFrame]) throws(EngineSendError)

    /// Sends what is queued, then `close`, and ends the session.
    func close()
}

struct EngineClosure: Sendable {
    enum Reason: Sendable, Hashable {
        /// By ``EngineConnection/close()``.
        case closed
        /// The other side closed without a message.
        case lost
        case failed(String)
        /// The server sent something other than Engine.IO.
        case invalid(String)
    }

    var reason: Reason
    /// The calls whose frames were queued and never sent.
    var unsent: [Int] = []
}

struct EngineSendError: Error, Hashable {
    enum Reason: Sendable, Hashable {
        case closed
        case queueFull
    }

    var reason: Reason
    /// How many of the frames, counted from the first, were queued before the error.
    var taken = 0
}
