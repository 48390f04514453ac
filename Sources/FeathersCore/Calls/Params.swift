/// The parameters of a call besides its id and data: Feathers' `params`.
///
/// Only ``query`` reaches every server. ``headers`` and ``token`` are sent over HTTP only, and ``route`` fills the
/// placeholders of the service's path. Everything else stays in the process, for hooks and local services.
///
/// ## Topics
///
/// ### What is sent
/// - ``query``
/// - ``headers``
/// - ``route``
/// - ``token``
///
/// ### Time and connection
/// - ``timeout``
/// - ``isVolatile``
///
/// ### Results
/// - ``coding``
/// - ``skipsUndecodableRecords``
/// - ``cachePolicy``
/// - ``cacheExpiration``
/// - ``caching(_:expiration:)``
///
/// ### Memory services
/// - ``pagination``
/// - ``multi``
///
/// ### Values of your own
/// - ``subscript(_:)``
public struct Params: Sendable {
    /// The query, sent to the server.
    public var query: Query<JSONValue>
    /// Additional HTTP header fields, which override the transport's own.
    ///
    /// A Socket.IO connection does not carry them, so a Socket.IO transport refuses a call with header fields before
    /// sending it, with ``FeathersError/Code/badRequest``. A mixed transport sends such a call over REST, regardless of
    /// its routes. ``FeathersApp/harmlessHeaders`` and `Accept-Language` are the exceptions.
    public var headers: [String: String]
    /// Values for the `:placeholders` of the service's path.
    ///
    /// A connection sends a value as it is. In a URL, characters that a path cannot contain are percent-encoded. A
    /// value is one segment of the path, so an empty one, `.`, `..`, and one with a slash, a backslash or a control
    /// character are refused before anything is sent, with ``FeathersError/Code/badRequest``.
    public var route: [String: String]
    /// The maximum duration of the call, instead of the transport's default.
    public var timeout: Duration?
    private var valuesByKey: [ObjectIdentifier: any Sendable] = [:]

    /// Creates params. All values are empty by default.
    public init(
        query: Query<JSONValue> = Query(), headers: [String: String] = [:], route: [String: String] = [:],
        timeout: Duration? = nil,
        token: String? = nil
    ) {
        self.query = query
        self.headers = headers
        self.route = route
        self.timeout = timeout
        if let token { self.token = token }
    }

    /// A value for hooks and local services. It is never sent.
    public subscript<Key: ParamsKey>(key: Key.Type) -> Key.Value? {
        get {
            // Casting nil would cost more than the lookup.
            guard let value = valuesByKey[ObjectIdentifier(key)] else { return nil }
            return value as? Key.Value
        }
        set { valuesByKey[ObjectIdentifier(key)] = newValue }
    }
}

/// The key of a typed, process-local value in ``Params``.
///
/// ```swift
/// enum CurrentUser: ParamsKey { typealias Value = User }
/// context.params[CurrentUser.self] = user
/// ```
public protocol ParamsKey {
    /// The type of the value.
    associatedtype Value: Sendable
}
