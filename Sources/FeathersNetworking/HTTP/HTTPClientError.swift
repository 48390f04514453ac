/// The reason why an HTTP exchange had no complete response.
///
/// It names the host and says whether the request may have been executed, but never includes header values, bodies, or
/// queries.
public struct HTTPClientError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Kind: Hashable, Sendable {
        /// The URL cannot be requested: it has no host, a scheme other than `http` or `https`, or characters that
        /// aren't percent-encoded.
        case invalidURL
        /// A header field or the method is invalid and cannot be sent.
        case invalidHeader
        /// The host name has no address.
        case hostNotFound
        /// The host does not accept connections: it refused, is unreachable, or the network is offline.
        case cannotConnect
        /// The secure connection failed because of the certificate, host name, or protocol.
        case tls
        /// Too many requests already wait for a connection to the host.
        case overloaded
        /// The deadline passed.
        case timeout
        /// The connection ended before the response was complete.
        case connectionLost
        /// The response isn't valid HTTP.
        case badResponse
        /// The server sent more redirects than the request allows.
        case tooManyRedirects
        /// A redirect points to a URL that is neither `http` nor `https`, or from `https` to `http`.
        case invalidRedirect
        /// A redirect would change the request to a `GET`, which ``HTTPRedirectPolicy/followSameMethod(maximum:)``
        /// doesn't allow.
        case methodChanged
        /// The body is larger than the request allows.
        case responseTooLarge
        /// A file to upload cannot be read, or changed while it was being sent.
        case unreadableFile
        /// The destination file cannot be written.
        case unwritableFile
        /// The client was closed, or ``HTTPClient/cancelAll()`` ended the exchange.
        case closed
        /// Any other error.
        case other

        var impliedDelivery: Delivery {
            switch self {
            case .invalidURL, .invalidHeader, .hostNotFound, .cannotConnect, .tls, .overloaded, .unreadableFile:
                .neverSent
            case .timeout, .connectionLost, .badResponse, .tooManyRedirects, .invalidRedirect, .methodChanged,
                .responseTooLarge,
                .unwritableFile, .closed,
                .other:
                .mayHaveExecuted
            }
        }
    }

    /// Whether the server may have seen the request.
    public enum Delivery: Hashable, Sendable {
        /// The request was never sent, so repeating it is safe.
        case neverSent
        /// The request was sent, wholly or in part, so the server may have executed it.
        case mayHaveExecuted
    }

    /// The kind of error.
    public var kind: Kind
    /// Whether the server may have seen the request.
    public var delivery: Delivery
    /// A message for people to read. It includes no header values, bodies, or queries.
    public var message: String
    /// The host that was contacted, with its port if the URL specifies one.
    public var host: String?
    /// The underlying error, if any.
    public var cause: (any Error)?

    /// Creates an error, for your own clients. If `delivery` is nil, it follows from the kind.
    public init(
        _ kind: Kind, _ message: String, host: String? = nil, delivery: Delivery? = nil, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.delivery = delivery ?? kind.impliedDelivery
        self.message = message
        self.host = host
        self.cause = cause
    }

    public var description: String {
        let place = host.map { " (\($0))" } ?? ""
        let uncertainty = delivery == .neverSent ? "was never sent" : "may have been executed"
        return "\(message)\(place); the request \(uncertainty)"
    }

    /// The error that ends the exchanges of a closed client.
    static func clientClosed(host: String? = nil, delivery: Delivery? = nil) -> HTTPClientError {
        HTTPClientError(.closed, "The HTTP client was closed", host: host, delivery: delivery)
    }

    /// The error that ends the exchanges in flight when ``HTTPClient/cancelAll()`` is called.
    package static func allCancelled(host: String? = nil, delivery: Delivery? = nil) -> HTTPClientError {
        HTTPClientError(.closed, "All requests of the HTTP client were cancelled", host: host, delivery: delivery)
    }
}
