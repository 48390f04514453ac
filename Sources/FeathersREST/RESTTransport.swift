public import FeathersCore
public import FeathersNetworking
package import FeathersSupport
public import Foundation

/// A transport that carries service requests over HTTP, as FeathersJS' REST client does: those of every service of an
/// app, and its endpoints.
///
/// A query string carries only text. Unless the server parses it, for example with query schemas, conditions on
/// numbers, Booleans, and null match nothing. A warning reports the first such query of each service, unless
/// ``QueryStringOptions`` specify that the server parses types.
public struct RESTTransport: Transport, TimeLimitingTransport {
    let builder: RESTRequestBuilder
    let httpClient: any HTTPClient
    /// Reports queries whose values lose their types; nil if the server parses the types in query strings.
    private let typedConditions: TypedConditionReporter?
    /// The maximum size of an item of a streamed result.
    let maximumEventBytes: Int

    package var callTimeout: Duration? { builder.timeout }

    /// Creates a transport over HTTP. `.rest(url)` is shorthand for this initializer.
    /// - Parameters:
    ///   - baseURL: The URL of the server, for example `https://api.example.com/v1`, with or without a trailing slash.
    ///   - headers: The header fields of every request; those of a call take precedence.
    ///   - timeout: The maximum duration of a call, including redirects, unless the call sets its own; nil for no
    ///     limit.
    ///   - queryOptions: How queries become query strings, and whether the server parses the types in them.
    ///   - maximumResponseBytes: The maximum size of a response in bytes after decompression; 16 MiB by default. File
    ///     downloads have no limit.
    ///   - httpClient: The client that sends the requests; nil for a new one, ``PlatformHTTPClient/make()``.
    public init(
        _ baseURL: URL, headers: [String: String] = [:], timeout: Duration? = .seconds(60),
        queryOptions: QueryStringOptions = QueryStringOptions(),
        maximumResponseBytes: Int = HTTPRequest.defaultMaximumResponseBytes, httpClient: (any HTTPClient)? = nil
    ) {
        self.init(
            baseURL, headers: headers, timeout: timeout, queryOptions: queryOptions,
            maximumResponseBytes: maximumResponseBytes, sendsEmptyObjects: false, httpClient: httpClient)
    }

    package init(
        _ baseURL: URL, headers: [String: String] = [:], timeout: Duration? = .seconds(60),
        queryOptions: QueryStringOptions = QueryStringOptions(),
        maximumResponseBytes: Int = HTTPRequest.defaultMaximumResponseBytes,
        maximumEventBytes: Int = TextLimit.standard,
        sendsEmptyObjects: Bool, httpClient: (any HTTPClient)? = nil
    ) {
        self.maximumEventBytes = maximumEventBytes
        builder = RESTRequestBuilder(
            base: RESTBaseURL(baseURL), headers: headers, timeout: timeout, queryOptions: queryOptions,
            maximumResponseBytes: maximumResponseBytes, sendsEmptyObjects: sendsEmptyObjects)
        self.httpClient = httpClient ?? PlatformHTTPClient.make()
        typedConditions = queryOptions.serverParsesTypes ? nil : TypedConditionReporter()
    }

    public func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        Diagnostics.current.isSent(over: "rest")
        let httpRequest = try builder.httpRequest(for: request)
        typedConditions?.check(request)
        if request.streamsResult { return try await stream(httpRequest, for: request) }
        let response: HTTPResponse
        do {
            if let upload = request.params.uploadContent {
                response = try await httpClient.transfer(
                    upload.transfer(of: httpRequest, stallTimeout: builder.timeout))
            } else {
                response = try await httpClient.execute(httpRequest)
            }
        } catch let error as HTTPClientError {
            throw FeathersError(error)
        }
        var answer = try RESTResponse.response(of: response, to: request, requestedAt: httpRequest.url)
        answer[SentQueryAsText.self] = typedConditions != nil && request.method == .find ? true : nil
        return answer
    }

    public func endCalls() { httpClient.cancelAll() }
}

extension RESTTransport: QueryStringTransport {
    package var queryStringOptions: QueryStringOptions { builder.queryOptions }
}

extension RESTTransport: LoadedTransport {
    package var waitingRequests: Int { (httpClient as? any RequestQueueing)?.waitingRequests ?? 0 }
}

extension RESTTransport: AddressedTransport {
    package var origin: Origin? { builder.base.origin }
}

extension Transport where Self == RESTTransport {
    /// Creates a transport over HTTP, as its initializer does: `FeathersApp(transport: .rest(url))`.
    public static func rest(
        _ baseURL: URL, headers: [String: String] = [:], timeout: Duration? = .seconds(60),
        queryOptions: QueryStringOptions = QueryStringOptions(),
        maximumResponseBytes: Int = HTTPRequest.defaultMaximumResponseBytes, httpClient: (any HTTPClient)? = nil
    ) -> RESTTransport {
        RESTTransport(
            baseURL, headers: headers, timeout: timeout, queryOptions: queryOptions,
            maximumResponseBytes: maximumResponseBytes,
            httpClient: httpClient)
    }
}
