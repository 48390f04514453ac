public import FeathersCore
public import FeathersNetworking
import FeathersREST
public import FeathersSupport
public import Foundation

/// A transport that sends service requests to a JSON:API server.
///
/// Services see plain records: `id`, `type`, and each attribute and relationship under its property's name, with
/// included resources nested. Other content uses member names that fields cannot have: `@links`, `@meta`,
/// `@relationships`, and on a result `@document`. The method `find` returns a page, with a total if the server sends
/// one.
public struct JSONAPITransport: Transport, TimeLimitingTransport {
    /// The codec that converts records and models to documents and back.
    public let codec: JSONAPICodec
    let builder: JSONAPIRequestBuilder
    private let httpClient: any HTTPClient

    package var callTimeout: Duration? { builder.timeout }

    /// Creates a transport to a server. `.jsonAPI(url)` is shorthand for this initializer.
    /// - Parameters:
    ///   - baseURL: The URL of the resources, for example `https://api.example.com/v1`, with or without a trailing
    ///     slash.
    ///   - codec: The codec that converts records and models to documents and back.
    ///   - options: The server's dialect.
    ///   - headers: The header fields of every request; those of a call take precedence.
    ///   - timeout: The maximum duration of a call, including redirects, unless the call sets its own; nil for no
    ///     limit.
    ///   - maximumResponseBytes: The maximum size of a response in bytes after decompression; 16 MiB by default.
    ///   - httpClient: The client that sends the requests; nil for a new one, `PlatformHTTPClient.make()`.
    public init(
        _ baseURL: URL, codec: JSONAPICodec = JSONAPICodec(), options: JSONAPIOptions = JSONAPIOptions(),
        headers: [String: String] = [:],
        timeout: Duration? = .seconds(60), maximumResponseBytes: Int = HTTPRequest.defaultMaximumResponseBytes,
        httpClient: (any HTTPClient)? = nil
    ) {
        self.codec = codec
        builder = JSONAPIRequestBuilder(
            base: RESTBaseURL(baseURL), headers: headers, timeout: timeout, codec: codec, options: options,
            maximumResponseBytes: maximumResponseBytes)
        self.httpClient = httpClient ?? PlatformHTTPClient.make()
    }

    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        let exchange = try builder.exchange(for: request)
        if let known = exchange.knownResult { return ServiceResponse(known) }
        Diagnostics.current.isSent(over: "jsonapi")
        let response: HTTPResponse
        do {
            response = try await httpClient.execute(exchange.request)
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
        if let error = response.otherHostError(requestedAt: exchange.request.url) { throw error }
        let reader = JSONAPIResponseReader(
            codec: codec, pages: builder.options.pages, exchange: exchange, response: response)
        return try reader.serviceResponse(to: request)
    }

    public func endCalls() { httpClient.cancelAll() }
}

extension JSONAPITransport: SecretHiding {
    public var description: String { "JSONAPITransport(\(builder.base))" }
}

extension JSONAPITransport: LoadedTransport {
    package var waitingRequests: Int { (httpClient as? any RequestQueueing)?.waitingRequests ?? 0 }
}

extension JSONAPITransport: AddressedTransport {
    package var origin: Origin? { builder.base.origin }
}

extension Transport where Self == JSONAPITransport {
    /// Creates a transport to a JSON:API server: `FeathersApp(transport: .jsonAPI(url))`.
    ///
    /// The parameters are those of
    /// ``JSONAPITransport/init(_:codec:options:headers:timeout:maximumResponseBytes:httpClient:)``.
    public static func jsonAPI(
        _ baseURL: URL, codec: JSONAPICodec = JSONAPICodec(), options: JSONAPIOptions = JSONAPIOptions(),
        headers: [String: String] = [:],
        timeout: Duration? = .seconds(60), maximumResponseBytes: Int = HTTPRequest.defaultMaximumResponseBytes,
        httpClient: (any HTTPClient)? = nil
    ) -> JSONAPITransport {
        JSONAPITransport(
            baseURL, codec: codec, options: options, headers: headers, timeout: timeout,
            maximumResponseBytes: maximumResponseBytes,
            httpClient: httpClient)
    }
}

/// A server's dialect of JSON:API, for everything that the specification leaves open.
public struct JSONAPIOptions: Sendable {
    /// The resource types by the paths of services; by default, the last segment of the path.
    public var types: [String: String]
    /// The names of properties that are relationships, by resource type.
    ///
    /// Only plain records need them, because null and an empty array could also be attributes. Models declare their
    /// relationships.
    public var relationships: [String: Set<String>]
    /// The mapping of conditions to query parameters.
    public var filters: FilterStrategy
    /// The parameters for pages.
    public var pages: PageStrategy
    /// The URLs of the extensions that every request applies and every response must apply.
    public var extensions: [String]
    /// The URLs of the profiles that every request applies and requests.
    public var profiles: [String]
    /// The path of the Atomic Operations endpoint, often `operations`; nil if the server does not have one.
    public var operationsPath: String?
    /// Whether the names of your own parameters (`Query.parameter(_:_:)`) must be ones that the specification reserves
    /// for implementations, so that no later version gives them a meaning. Set it to false for servers that require
    /// other names.
    public var checksParameterNames: Bool
    /// A closure that creates the id for a new resource without one. If the closure or its result is nil, the server
    /// assigns the id.
    public var makeID: (@Sendable (_ type: String) -> String?)?

    /// Creates options.
    public init(
        types: [String: String] = [:], relationships: [String: Set<String>] = [:], filters: FilterStrategy = .equality,
        pages: PageStrategy = .number, extensions: [String] = [], profiles: [String] = [],
        operationsPath: String? = nil,
        checksParameterNames: Bool = true, makeID: (@Sendable (_ type: String) -> String?)? = nil
    ) {
        self.types = types
        self.relationships = relationships
        self.filters = filters
        self.pages = pages
        self.extensions = extensions
        self.profiles = profiles
        self.operationsPath = operationsPath
        self.checksParameterNames = checksParameterNames
        self.makeID = makeID
    }

    func type(ofPath path: String) -> String {
        types[path] ?? path.split(separator: "/").last { !$0.hasPrefix(":") }.map(String.init) ?? path
    }
}

/// The JSON:API media type with its two parameters (JSON:API 1.1, "Content Negotiation").
struct JSONAPIMediaType {
    var extensions: [String] = []
    var profiles: [String] = []

    /// The media type of a request's document: `ext` and `profile` if they are applied, and no other parameter.
    var contentType: String {
        "application/vnd.api+json" + Self.parameter("ext", extensions) + Self.parameter("profile", profiles)
    }

    /// The accepted media types. Extensions are required. Profiles are optional, so a second type omits them for
    /// servers without support.
    var accept: String {
        profiles.isEmpty ? contentType : "\(contentType), \(JSONAPIMediaType(extensions: extensions).contentType)"
    }

    private static func parameter(_ name: String, _ addresses: [String]) -> String {
        addresses.isEmpty ? "" : ";\(name)=\"\(addresses.joined(separator: " "))\""
    }
}
