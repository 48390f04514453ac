import FeathersSupport
public import Foundation

/// An HTTP request.
public struct HTTPRequest: Sendable {
    /// The method, such as `GET` or `PATCH`, sent exactly as written.
    public var method: String
    /// The absolute `http` or `https` URL. Path and query must be percent-encoded, and are sent as written.
    public var url: URL
    /// The header fields, in the order they were set.
    public var headers: HTTPHeaders
    /// The body's bytes; nil sends no body.
    public var body: [UInt8]?
    /// The time limit for the whole exchange, including redirects. If nil, the client decides.
    public var timeout: Duration?
    /// How redirects are handled.
    public var redirects: HTTPRedirectPolicy
    /// The maximum size of the response's body after decompression, in bytes. The default is
    /// ``defaultMaximumResponseBytes``.
    ///
    /// Downloads to files have no such limit.
    public var maximumResponseBytes: Int
    /// Whether the client may resend the request if a pooled connection turns out to be dead.
    ///
    /// The default is true for idempotent methods (RFC 9110, section 9.2.2). `URLSession` makes its own decision.
    public var isRepeatable: Bool

    /// The default limit for a response's body: 16 MiB.
    public static let defaultMaximumResponseBytes = TextLimit.standard

    /// Creates a request. Only the URL is required.
    public init(
        method: String = "GET", url: URL, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8]? = nil,
        timeout: Duration? = nil,
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

    /// - Throws: ``HTTPClientError`` if the URL or method is invalid.
    func checkSendable() throws(HTTPClientError) {
        guard url.isRequestable else {
            throw HTTPClientError(
                .invalidURL, "The URL isn't an http or https URL with a host and a valid port", host: url.hostAndPort)
        }
        guard HTTPFieldSyntax.isToken(method) else {
            throw HTTPClientError(.invalidHeader, "The method \(HTTPFieldSyntax.printable(method)) isn't a valid token")
        }
    }
}

/// How a client handles redirects.
public enum HTTPRedirectPolicy: Hashable, Sendable {
    /// Follows at most `maximum` redirects, then fails with ``HTTPClientError/Kind/tooManyRedirects``.
    case follow(maximum: Int)
    /// Returns the redirect itself.
    case never
}
