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
    /// Whether a redirect to another origin has removed the fields that may identify the sender.
    package var hasLostFields = false

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
    ///
    /// As in a browser, a 303, and a 301 or 302 to a `POST`, continue as a `GET` without the body.
    case follow(maximum: Int)
    /// Follows at most `maximum` redirects that repeat the request with its method and body.
    ///
    /// A redirect that would continue as a `GET` fails with ``HTTPClientError/Kind/methodChanged``: the response to
    /// that `GET` would say nothing about the request. Calls of services use this policy.
    case followSameMethod(maximum: Int)
    /// Returns the redirect itself.
    case never

    /// The maximum number of redirects that are followed; nil if none are.
    var maximum: Int? {
        switch self {
        case .follow(let maximum), .followSameMethod(let maximum): maximum
        case .never: nil
        }
    }
}
