public import FeathersCore
public import FeathersNetworking
public import Foundation

/// Carries service requests to a JSON:API server.
///
/// Services see plain records: `id`, `type`, and every attribute and relationship under its property's name, what came along inside of relationships. What
/// JSON:API says beside the fields stands in members that no field can be named like: `@links`, `@meta`, `@relationships`, and on a result
/// `@document`. `find` gives a page, with its total where the server says it.
public struct JSONAPITransport: Transport {
    /// How records and models become documents and back.
    public let codec: JSONAPICodec
    let builder: JSONAPIRequestBuilder
    private let httpClient: any HTTPClient

    /// A transport to a server; `.jsonAPI(url)` is the short way.
    /// - Parameters:
    ///   - baseURL: where the resources live, for example `https://api.example.com/v1`; a trailing slash does not count.
    ///   - codec: how records and models become documents and back.
    ///   - options: what the server's dialect is like.
    ///   - headers: header fields of every request; a call's own win.
    ///   - timeout: how long a call may take, redirects included, unless it says otherwise; nil for as long as it takes.
    ///   - httpClient: what executes the requests; nil for one of this transport's own, `PlatformHTTPClient.make()`.
    public init(
        _ baseURL: URL,
        codec: JSONAPICodec = JSONAPICodec(),
        options: JSONAPIOptions = JSONAPIOptions(),
        headers: [String: String] = [:],
        timeout: Duration? = .seconds(60),
        httpClient: (any HTTPClient)? = nil
    ) {
        self.codec = codec
        builder = JSONAPIRequestBuilder(
            base: RESTBaseURL(baseURL), headers: headers, timeout: timeout, codec: codec, options: options)
        self.httpClient = httpClient ?? PlatformHTTPClient.make()
    }

    public func send(_ request: ServiceRequest) async throws -> JSONValue {
        let exchange = try builder.exchange(for: request)
        if let known = exchange.knownResult { return known }
        let response: HTTPResponse
        do {
            response = try await httpClient.execute(exchange.request)
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
        let answer = JSONAPIAnswer(codec: codec, pages: builder.options.pages)
        guard let read = ConditionalRead.of(request) else { return try answer.result(of: response, to: exchange) }
        return try answer.result(of: response, to: exchange, read)
    }
}

extension Transport where Self == JSONAPITransport {
    /// A transport to a JSON:API server: `FeathersApp(transport: .jsonAPI(url))`.
    ///
    /// The parameters are those of ``JSONAPITransport/init(_:codec:options:headers:timeout:httpClient:)``.
    public static func jsonAPI(
        _ baseURL: URL,
        codec: JSONAPICodec = JSONAPICodec(),
        options: JSONAPIOptions = JSONAPIOptions(),
        headers: [String: String] = [:],
        timeout: Duration? = .seconds(60),
        httpClient: (any HTTPClient)? = nil
    ) -> JSONAPITransport {
        JSONAPITransport(baseURL, codec: codec, options: options, headers: headers, timeout: timeout, httpClient: httpClient)
    }
}
