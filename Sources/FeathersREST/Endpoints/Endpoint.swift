public import FeathersCore
public import FeathersNetworking
public import Foundation

/// A request to a server that is not a service's, with the type of its response.
///
/// ```swift
/// let profile = Endpoint<Profile>(.get, "users/me", query: ["verbose": true], rootKeys: ["data", "user"])
/// let me = try await app.request(profile)
/// ```
///
/// A value: keep it, change it, send it as often as you like. What a response can be: a `Decodable` model or ``JSONValue`` read from JSON; `Data`,
/// `[UInt8]` and `String`, which are the body itself (with root keys they are read from JSON); ``EmptyResponse``; ``DownloadedFile``; anything
/// you decode yourself.
public struct Endpoint<Response: Sendable>: Sendable {
    /// The HTTP method.
    public var method: HTTPMethod
    /// The path below the base URL, or an absolute URL, which has a scheme: `https://cdn.example.com/logo.png`.
    ///
    /// A `?` or `#` in a path is refused, as it would become part of a name; an absolute URL may have a query, to which ``query`` is added.
    /// Segments such as `:id` are filled from ``route``, encoded. A slash at the end is kept.
    public var path: String
    /// Values for the `:placeholders` of the path.
    public var route: [String: String] = [:]
    /// The query, written as a service's is.
    public var query = Query()
    /// Plain items behind the query: what Feathers' syntax cannot say, such as a name that occurs twice.
    public var queryItems: [URLQueryItem] = []
    /// Header fields; they win over the transport's own.
    public var headers: [String: String] = [:]
    /// What is sent.
    public var body: EndpointBody?
    /// How long the whole may take; nil for the transport's timeout. Files have no such limit of their own, see ``FeathersApp/transfer(_:over:params:progress:)``.
    public var timeout: Duration?
    /// Where the path starts, in place of the transport's base URL.
    public var baseURL: URL?
    /// Where the app's token, and the header fields of its hooks and of the transport, may go.
    public var credentials: EndpointCredentials = .sameOrigin
    /// How the body and the response are coded; nil for the app's way.
    public var coding: (any JSONCodec)?
    /// Looks at every HTTP response before status and content type are checked; what it throws is the call's error.
    public var validate: (@Sendable (HTTPResponse) throws -> Void)?

    let reading: EndpointReading<Response>

    init(_ method: HTTPMethod, _ path: String, reading: EndpointReading<Response>) {
        self.method = method
        self.path = path
        self.reading = reading
    }
}

extension Endpoint where Response: Decodable {
    /// An endpoint whose HTTP response is a model, `Data`, `[UInt8]`, `String` or ``EmptyResponse``.
    ///
    /// `rootKeys` are the way through the HTTP response's JSON to the response: `["data", "items", 0]`.
    public init(
        _ method: HTTPMethod, _ path: String, route: [String: String] = [:], query: Query = Query(), headers: [String: String] = [:],
        body: EndpointBody? = nil, rootKeys: [RootKey] = [], timeout: Duration? = nil, baseURL: URL? = nil,
        validate: (@Sendable (HTTPResponse) throws -> Void)? = nil
    ) {
        self.init(method, path, reading: .decoding(rootKeys))
        (self.route, self.query, self.headers, self.body) = (route, query, headers, body)
        (self.timeout, self.baseURL, self.validate) = (timeout, baseURL, validate)
    }
}

extension Endpoint {
    /// An endpoint whose HTTP response is read by a function of your own, in place of every codec.
    public init(
        _ method: HTTPMethod, _ path: String, route: [String: String] = [:], query: Query = Query(), headers: [String: String] = [:],
        body: EndpointBody? = nil, timeout: Duration? = nil, baseURL: URL? = nil,
        validate: (@Sendable (HTTPResponse) throws -> Void)? = nil, decode: @escaping @Sendable (HTTPResponse) throws -> Response
    ) {
        self.init(method, path, reading: .raw(decode))
        (self.route, self.query, self.headers, self.body) = (route, query, headers, body)
        (self.timeout, self.baseURL, self.validate) = (timeout, baseURL, validate)
    }
}

extension Endpoint<DownloadedFile> {
    /// An endpoint whose HTTP response becomes a file, written while it arrives and never whole in memory.
    ///
    /// A file at `destination` is replaced when the download is complete, and not before. Without a `timeout`, the download may take as
    /// long as something arrives.
    public init(
        _ method: HTTPMethod, _ path: String, to destination: URL, route: [String: String] = [:], query: Query = Query(),
        headers: [String: String] = [:], body: EndpointBody? = nil, timeout: Duration? = nil, baseURL: URL? = nil
    ) {
        self.init(method, path, reading: .file(destination))
        (self.route, self.query, self.headers, self.body) = (route, query, headers, body)
        (self.timeout, self.baseURL) = (timeout, baseURL)
    }
}

/// Where an endpoint's request carries what the app adds to it: its token, the header fields that hooks set, and the transport's.
///
/// The names are those of the Fetch standard. Header fields of the endpoint itself, `Accept` and `Content-Type` are always sent.
public enum EndpointCredentials: Hashable, Sendable {
    /// Only to the origin (scheme, host and port) they belong to, so that no other server gets them by accident.
    ///
    /// The token and the fields of hooks belong to the app's own server, which is where its transport leads, and to its authentication's
    /// `trustedOrigins`, over whatever transport the request goes. A transport's own fields belong to the server of its base URL.
    case sameOrigin
    /// To whatever origin the endpoint asks.
    case include
    /// To none.
    case omit
}
