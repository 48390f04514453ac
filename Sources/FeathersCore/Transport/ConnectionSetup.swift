/// What a plugin does on every connection of a real-time transport: authentication, for one.
///
/// A connection that stands again knows nothing of the one before it, not even where the server recovered its session, so that this
/// is asked for on each of them.
public struct ConnectionSetup: Sendable {
    /// Sends a request over the new connection, ahead of every call that waits for one.
    ///
    /// It throws what ``Transport/send(_:)`` throws; once the connection is gone, ``FeathersError/Code/unavailable``.
    public typealias Send = @Sendable (ServiceRequest) async throws -> JSONValue

    /// Makes header fields for the opening of a connection, for every attempt anew.
    public var headers: @Sendable () async throws -> [String: String]
    /// Runs on every connection once the server has accepted it, before any call that waits is sent and before the connection
    /// counts as standing. It is cancelled when the connection ends first.
    public var prepare: @Sendable (Send) async -> Void
    /// Runs beside a prepared connection and is cancelled when that ends.
    public var accompany: @Sendable (Send) async -> Void
    /// Whether to connect again after an end that the transport takes for final: the server ended the connection, or refused it.
    public var reconnects: @Sendable (DisconnectReason) async -> Bool

    /// A setup; the parameters are the properties of the same names, and do nothing unless given.
    public init(
        headers: @escaping @Sendable () async throws -> [String: String] = { [:] },
        prepare: @escaping @Sendable (Send) async -> Void = { _ in },
        accompany: @escaping @Sendable (Send) async -> Void = { _ in },
        reconnects: @escaping @Sendable (DisconnectReason) async -> Bool = { _ in false }
    ) {
        self.headers = headers
        self.prepare = prepare
        self.accompany = accompany
        self.reconnects = reconnects
    }
}
