import FeathersNetworking

/// An open Engine.IO session over one of its transports. Packets are received, and frames are sent, in order.
protocol EngineConnection: Sendable {
    var handshake: EngineHandshake { get }

    /// Delivers packets until the session ends, then reports its end, once. Call it only once. The closures are called
    /// one at a time, in order of arrival, and must not block.
    ///
    /// Returns as soon as the session needs no task. A WebSocket needs none while it is open, so that thousands of them
    /// are affordable. If the task is cancelled first, the session ends.
    /// - Parameters:
    ///   - take: Handles the content of a message in place, if the transport supports that. Returns `false` to have the
    ///     packet delivered instead.
    ///   - onReadEnd: Called after a read of the socket whose messages were handled in place, before anything else is
    ///     called.
    ///   - onStart: Called once, when packets begin to be delivered as they arrive. Send the first request here.
    func run(
        _ handler: @escaping @Sendable (EnginePacket) -> Void, taking take: @escaping WebSocketHandler.TextTaker,
        onReadEnd: @escaping @Sendable () -> Void, onStart: () -> Void,
        onEnd: @escaping @Sendable (EngineClosure) -> Void
    ) async

    /// Queues frames and returns immediately. Frames are sent in the order of the calls.
    /// - Throws: ``EngineSendError`` if not all of the frames were accepted.
    func sendNow(_ frames: [EngineFrame]) throws(EngineSendError)

    /// Sends the queued frames, then `close`, and ends the session.
    func close()
}

struct EngineClosure: Sendable {
    enum Reason: Sendable, Hashable {
        /// Closed by ``EngineConnection/close()``.
        case closed
        /// The peer closed without a message.
        case lost
        case failed(String)
        /// The server sent something other than Engine.IO.
        case invalid(String)
    }

    var reason: Reason
    /// The calls whose frames were queued but never sent.
    var unsent: [Int] = []
}

struct EngineSendError: Error, Hashable {
    enum Reason: Sendable, Hashable {
        case closed
        case queueFull
    }

    var reason: Reason
    /// The number of leading frames that were queued before the error.
    var taken = 0
}
