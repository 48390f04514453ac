/// Why an HTTP exchange gave no complete response.
///
/// It names the host and says whether the request may have been executed; it never prints header values, bodies or queries.
public struct HTTPClientError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: Hashable, Sendable {
        /// The URL cannot be requested: no host, no `http` or `https`, characters that are not percent-encoded.
        case invalidURL
        /// A header field or the method cannot be sent as it is.
        case invalidHeader
        /// The host's name has no address.
        case hostNotFound
        /// Nothing accepts connections there: refused, unreachable or offline.
        case cannotConnect
        /// The secure connection could not be made: certificate, host name or protocol.
        case tls
        /// The deadline passed.
        case timeout
        /// The connection ended before the response was complete.
        case connectionLost
        /// What came back is not HTTP.
        case badResponse
        /// More redirects than the request allows.
        case tooManyRedirects
        /// A redirect points to something that is neither `http` nor `https`.
        case invalidRedirect
        /// The body is larger than the request allows.
        case responseTooLarge
        /// A file to send cannot be read, or changed while it was sent.
        case unreadableFile
        /// The file to receive into cannot be written.
        case unwritableFile
        /// The client was closed, or ended the exchange in ``HTTPClient/cancelAll()``.
        case closed
        /// Anything else.
        case other

        var impliedDelivery: Delivery {
            switch self {
            case .invalidURL, .invalidHeader, .hostNotFound, .cannotConnect, .tls, .unreadableFile: .neverSent
            case .timeout, .connectionLost, .badResponse, .tooManyRedirects, .invalidRedirect, .responseTooLarge, .unwritableFile, .closed,
                .other:
                .mayHaveExecuted
            }
        }
    }

    /// Whether the server can have seen the request.
    public enum Delivery: Hashable, Sendable {
        /// The request never left: repeating it is safe.
        case neverSent
        /// The request was sent, wholly or in part: the server may have executed it.
        case mayHaveExecuted
    }

    /// What went wrong.
    public var kind: Kind
    /// Whether the server can have seen the request.
    public var delivery: Delivery
    /// What happened, for a human; no header values, bodies or queries.
    public var message: String
    /// The host that was asked, with its port where the URL names one.
    public var host: String?
    /// The error underneath, where there was one.
    public var cause: (any Error)?

    /// Creates an error, for a client of your own; a `delivery` of nil is what the kind implies.
    public init(_ kind: Kind, _ message: String, host: String? = nil, delivery: Delivery? = nil, cause: (any Error)? = nil) {
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

    /// What the exchanges of a closed client end with.
    static func clientClosed(host: String? = nil, delivery: Delivery? = nil) -> HTTPClientError {
        HTTPClientError(.closed, "The HTTP client was closed", host: host, delivery: delivery)
    }

    /// What the exchanges end with that ``HTTPClient/cancelAll()`` finds in flight.
    package static func allCancelled(host: String? = nil, delivery: Delivery? = nil) -> HTTPClientError {
        HTTPClientError(.closed, "The HTTP client was told to end its requests", host: host, delivery: delivery)
    }
}
