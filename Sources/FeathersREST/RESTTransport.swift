public import FeathersCore
public import FeathersNetworking
package import FeathersSupport
public import Foundation

/// Carries service requests over HTTP, as FeathersJS' REST client does.
///
/// One transport serves every service of an app, and its endpoints.
///
/// A query string carries text only. Unless the server parses it, as query schemas do, conditions on numbers, booleans and null match nothing. The first such
/// query of each service is reported as a warning, unless ``QueryStringOptions`` say that the server parses types.
public struct RESTTransport: Transport {
    let builder: RESTRequestBuilder
    let httpClient: any HTTPClient
    /// Nil if the server parses the types in query strings.
    private let typedConditions: TypedConditionReporter?

    package init(
        _ baseURL: URL, headers: [String: String] = [:], timeout: Duration? = .seconds(60),
        queryOptions: QueryStringOptions = QueryStringOptions(),
        maximumResponseBytes: Int = HTTPRequest.defaultMaximumResponseBytes, httpClient: (any HTTPClient)? = nil
    ) {
        builder = RESTRequestBuilder(
            base: RESTBaseURL(baseURL), headers: headers, timeout: timeout, queryOptions: queryOptions,
            maximumResponseBytes: maximumResponseBytes)
        self.httpClient = httpClient ?? PlatformHTTPClient.make()
        typedConditions = queryOptions.serverParsesTypes ? nil : TypedConditionReporter()
    }

    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        let httpRequest = try builder.httpRequest(for: request)
        typedConditions?.check(request)
        let response: HTTPResponse
        do {
            response = try await httpClient.execute(httpRequest)
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
        return try RESTAnswer.response(of: response, to: request)
    }

    public func endCalls() { httpClient.cancelAll() }
}

extension RESTTransport: AddressedTransport {
    package var origin: Origin? { builder.base.origin }
}

extension Transport where Self == RESTTransport {
    /// A transport over HTTP: `FeathersApp(transport: .rest(url))`.
    /// - Parameters:
    ///   - baseURL: where the app lives, for example `https://api.example.com/v1`; a trailing slash does not count.
    ///   - headers: header fields of every request; a call's own win.
    ///   - timeout: how long a call may take, redirects included, unless it says otherwise; nil for as long as it takes.
    ///   - queryOptions: how queries become query strings, and whether the server parses the types in them.
    ///   - maximumResponseBytes: how many bytes an answer may have, decompressed; 16 MiB unless set. Downloads into files have no limit.
    ///   - httpClient: what executes the requests; nil for one of this transport's own, ``PlatformHTTPClient/make()``.
    public static func rest(
        _ baseURL: URL, headers: [String: String] = [:], timeout: Duration? = .seconds(60),
        queryOptions: QueryStringOptions = QueryStringOptions(),
        maximumResponseBytes: Int = HTTPRequest.defaultMaximumResponseBytes, httpClient: (any HTTPClient)? = nil
    ) -> RESTTransport {
        RESTTransport(
            baseURL, headers: headers, timeout: timeout, queryOptions: queryOptions, maximumResponseBytes: maximumResponseBytes,
            httpClient: httpClient)
    }
}
