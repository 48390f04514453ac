/// An open WebSocket: one peer, messages whole and in order.
///
/// Received messages come by a call rather than by an `await`: whoever waits for one is resumed right where it was read, without a task in
/// between.
public protocol WebSocketConnection: Sendable {
    /// Begins to deliver; called once. Whatever arrived before is delivered first.
    ///
    /// `handler` is called by one thread at a time, in the order of arrival, and must not block. Its last call is `closed`,
    /// which comes exactly once, also after ``close(code:reason:)``. Until the peer has answered that one, messages on their way are still delivered.
    func start(_ handler: @escaping @Sendable (WebSocketEvent) -> Void)

    /// Puts a message into the queue and returns; the order of calls is the order on the wire.
    /// - Throws: ``WebSocketError`` when the connection is closing or closed, its queue is full, or writing found the connection lost; then
    ///   the message may or may not have arrived.
    func sendNow(_ message: WebSocketMessage) throws(WebSocketError)

    /// Puts a message into the queue once there is room for it.
    /// - Throws: ``WebSocketError`` when the connection closes, `CancellationError` when the task is cancelled before the
    ///   message was queued.
    func send(_ message: WebSocketMessage) async throws

    /// Begins the closing handshake; does nothing on a connection that is closing or closed.
    ///
    /// What was queued before is sent first. A peer that does not answer in time is cut off.
    /// - Parameters:
    ///   - code: the close code (RFC 6455, section 7.4); one that may not be sent, such as 1005, becomes 1000.
    ///   - reason: at most 123 bytes of UTF-8; longer ones are cut at a character.
    func close(code: UInt16, reason: String)
}
