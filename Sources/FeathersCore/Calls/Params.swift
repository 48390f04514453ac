/// What a call carries besides its id and data: Feathers' `params`.
///
/// Only `query` reaches every server, `headers` only over REST, `route` fills the placeholders of the
/// service's path. Everything else stays in the process, for hooks and local services.
public struct Params: Sendable {
    /// The query, sent to the server.
    public var query: Query

    /// Additional HTTP header fields. They win over the transport's own (REST only).
    public var headers: [String: String]

    /// Values for the `:placeholders` of the service's path, percent-encoded by the transport.
    public var route: [String: String]

    /// How long the call may take, in place of the transport's default.
    public var timeout: Duration?

    var values: [ObjectIdentifier: any Sendable]

    public init(
        query: Query = Query(),
        headers: [String: String] = [:],
        route: [String: String] = [:],
        timeout: Duration? = nil
    ) {
        self.query = query
        self.headers = headers
        self.route = route
        self.timeout = timeout
        self.values = [:]
    }

    /// A value that hooks and local services pass to each other and that is never sent.
    public subscript<Key: ParamsKey>(key: Key.Type) -> Key.Value? {
        get { values[ObjectIdentifier(key)] as? Key.Value }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

/// The key of a typed, process-local value in ``Params``.
///
/// ```swift
/// enum CurrentUser: ParamsKey { typealias Value = User }
/// context.params[CurrentUser.self] = user
/// ```
public protocol ParamsKey {
    associatedtype Value: Sendable
}
