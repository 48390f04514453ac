import FeathersSupport
public import Foundation

/// One HTTP request as a value.
public struct HTTPRequest: Sendable {
    /// The method, sent as it is written here: `GET`, `PATCH`.
    public var method: String
    /// The absolute `http` or `https` URL. Path and query are sent as they are written here: already percent-encoded.
    public var url: URL
    /// The header fields, in the order they were set.
    public var headers: HTTPHeaders
    /// The body's bytes; nil sends no body.
    public var body: [UInt8]?
    /// How long the whole exchange may take, redirects included; nil leaves it to the client.
    public var timeout: Duration?
    /// How redirects are handled.
    public var redirects: HTTPRedirectPolicy
    /// How many bytes the response's body may have after decompression; ``defaultMaximumResponseBytes`` unless you say otherwise.
    ///
    /// Downloads into files have no such limit.
    public var maximumResponseBytes: Int
    /// Whether the client may send the request again by itself where a kept connection turns out to be dead.
    ///
    /// The default is true for idempotent methods (RFC 9110, section 9.2.2). `URLSession` decides for itself.
    public var isRepeatable: Bool

    /// The default limit of a response's body: 16 MiB.
    public static let defaultMaximumResponseBytes = TextLimit.standard

    /// Creates a request; only the URL has no default.
    public init(
        method: String = "GET", url: URL, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8]? = nil, timeout: Duration? = nil,
        redirects: HTTPRedirectPolicy = .follow(maximum: 20), maximumResponseBytes: Int = defaultMaximumResponseBytes
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.redirects = redirects
        self.maximumResponseBytes = maximumResponseBytes
        self.isRepeatable = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
    }

    /// - Throws: ``HTTPClientError`` where the URL or method cannot be sent.
    func checkSendable() throws(HTTPClientError) {
        guard url.isRequestable else {
            throw HTTPClientError(.invalidURL, "The URL is no http or https URL with host and valid port", host: url.hostAndPort)
        }
        guard HTTPFieldSyntax.isToken(method) else {
            throw HTTPClientError(.invalidHeader, "The method \(HTTPFieldSyntax.printable(method)) is no token")
        }
    }
}

/// What a client does with a redirect.
public enum HTTPRedirectPolicy: Hashable, Sendable {
    /// Follows at most `maximum` redirects, then fails with ``HTTPClientError/Kind/tooManyRedirects``.
    case follow(maximum: Int)
    /// Returns the redirect itself.
    case never
}
