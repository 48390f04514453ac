public import FeathersCore
public import FeathersNetworking
public import Foundation

/// A request to a server outside of services, with the type of its response.
///
/// ```swift
/// let profile = Endpoint<Profile>(
///     .get, "users/me", query: ["verbose": true], rootKeys: ["data", "user"])
/// let me = try await app.request(profile)
/// ```
///
/// An endpoint is a value that you can store, change, and send as often as you like. Its response can be a `Decodable`
/// model or ``JSONValue``, read from JSON; `Data`, `[UInt8]`, or `String`, which is the body itself (with root keys, it
/// is read from JSON); ``EmptyResponse``; ``DownloadedFile``; or anything that you decode yourself.
///
/// ## Topics
///
/// ### Creating an endpoint
/// - ``init(_:_:route:query:headers:body:rootKeys:timeout:baseURL:validate:)``
/// - ``init(_:_:route:query:headers:body:timeout:baseURL:validate:decode:)``
/// - ``init(_:_:to:route:query:headers:body:timeout:baseURL:)``
///
/// ### The address
/// - ``method``
/// - ``path``
/// - ``route``
/// - ``query``
/// - ``queryItems``
/// - ``baseURL``
///
/// ### What is sent
/// - ``headers``
/// - ``body``
/// - ``credentials``
/// - ``timeout``
/// - ``redirects``
///
/// ### What comes back
/// - ``validate``
/// - ``coding``
public struct Endpoint<Response: Sendable>: Sendable {
    /// The HTTP method.
    public var method: HTTPMethod
    /// The path below the base URL, or an absolute URL with a scheme, such as `https://cdn.example.com/logo.png`.
    ///
    /// A `?` or `#` in a path is refused, because it would become part of a name. An absolute URL may have a query, to
    /// which ``query`` is added. Segments such as `:id` are filled from ``route`` and encoded. A trailing slash is
    /// kept.
    public var path: String
    /// Values for the `:placeholders` of the path.
    public var route: [String: String] = [:]
    /// The query, written like that of a service.
    public var query = Query<JSONValue>()
    /// Plain items after the query, for what Feathers' syntax cannot express, such as a repeated name.
    public var queryItems: [URLQueryItem] = []
    /// The header fields, which override the transport's.
    public var headers: [String: String] = [:]
    /// The body of the request.
    public var body: EndpointBody?
    /// The maximum duration; nil for the transport's timeout. Files have none by default; see
    /// ``FeathersApp/transfer(_:over:params:progress:)``.
    public var timeout: Duration?
    /// The redirects that are followed; by default, those that repeat the request with its method and body.
    ///
    /// Other redirects would continue as a `GET`, whose response says nothing about a write, so the call fails as one
    /// that may have been executed. If your server responds to a `POST` with a 303 to the result, use
    /// `.follow(maximum: 20)`.
    public var redirects = HTTPRedirectPolicy.followSameMethod(maximum: 20)
    /// The base URL for the path, in place of the transport's.
    public var baseURL: URL?
    /// The servers that receive the app's token and the header fields of its hooks and transport.
    public var credentials: EndpointCredentials = .sameOrigin
    /// The codec for the body and the response; nil for the app's.
    public var coding: (any JSONCodec)?
    /// Inspects every HTTP response before its status and content type are checked. An error that it throws becomes the
    /// call's error.
    public var validate: (@Sendable (HTTPResponse) throws -> Void)?

    let reading: EndpointReading<Response>

    init(_ method: HTTPMethod, _ path: String, reading: EndpointReading<Response>) {
        self.method = method
        self.path = path
        self.reading = reading
    }
}

extension Endpoint where Response: Decodable {
    /// Creates an endpoint whose response is a model, `Data`, `[UInt8]`, `String`, or ``EmptyResponse``.
    ///
    /// `rootKeys` are the path through the HTTP response's JSON to the response, such as `["data", "items", 0]`.
    public init(
        _ method: HTTPMethod, _ path: String, route: [String: String] = [:], query: Query<JSONValue> = Query(),
        headers: [String: String] = [:],
        body: EndpointBody? = nil, rootKeys: [RootKey] = [], timeout: Duration? = nil, baseURL: URL? = nil,
        validate: (@Sendable (HTTPResponse) throws -> Void)? = nil
    ) {
        self.init(method, path, reading: .decoding(rootKeys))
        (self.route, self.query, self.headers, self.body) = (route, query, headers, body)
        (self.timeout, self.baseURL, self.validate) = (timeout, baseURL, validate)
    }
}

extension Endpoint {
    /// Creates an endpoint whose HTTP response is read by your own function instead of a codec.
    public init(
        _ method: HTTPMethod, _ path: String, route: [String: String] = [:], query: Query<JSONValue> = Query(),
        headers: [String: String] = [:],
        body: EndpointBody? = nil, timeout: Duration? = nil, baseURL: URL? = nil,
        validate: (@Sendable (HTTPResponse) throws -> Void)? = nil,
        decode: @escaping @Sendable (HTTPResponse) throws -> Response
    ) {
        self.init(method, path, reading: .raw(decode))
        (self.route, self.query, self.headers, self.body) = (route, query, headers, body)
        (self.timeout, self.baseURL, self.validate) = (timeout, baseURL, validate)
    }
}

extension Endpoint<DownloadedFile> {
    /// Creates an endpoint whose response is written to a file as it arrives and is never held in memory as a whole.
    ///
    /// A file at `destination` is replaced only when the download is complete. Without a `timeout`, the download may
    /// take as long as data keeps arriving.
    public init(
        _ method: HTTPMethod, _ path: String, to destination: URL, route: [String: String] = [:],
        query: Query<JSONValue> = Query(),
        headers: [String: String] = [:], body: EndpointBody? = nil, timeout: Duration? = nil, baseURL: URL? = nil
    ) {
        self.init(method, path, reading: .file(destination))
        (self.route, self.query, self.headers, self.body) = (route, query, headers, body)
        (self.timeout, self.baseURL) = (timeout, baseURL)
    }
}

/// The servers to which an endpoint's request carries what the app adds: its token and the header fields that hooks and
/// the transport set.
///
/// The names are those of the Fetch standard. The endpoint's own header fields, `Accept`, and `Content-Type` are always
/// sent.
public enum EndpointCredentials: Hashable, Sendable {
    /// Only the origin (scheme, host, and port) that the credentials belong to, so that no other server receives them
    /// by accident.
    ///
    /// The token and the fields of hooks belong to the app's own server, that is, the server of its transport, and to
    /// the `trustedOrigins` of its authentication, regardless of which transport carries the request. A transport's own
    /// fields belong to the server of its base URL.
    case sameOrigin
    /// Any origin that the endpoint sends its request to.
    case include
    /// No server.
    case omit
}
