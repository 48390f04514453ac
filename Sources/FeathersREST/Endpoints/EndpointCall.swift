public import FeathersCore
public import FeathersNetworking
import FeathersSupport
public import Foundation

/// What hooks can learn of a call of an endpoint, besides what every call has: `context.endpoint`.
public final class EndpointCall: Sendable {
    /// What came back over HTTP, without its body.
    public struct Answer: Sendable {
        /// The HTTP status.
        public let status: Int
        /// The header fields.
        public let headers: HTTPHeaders
        /// The URL that answered, after redirects.
        public let url: URL
    }

    /// The HTTP method.
    public let method: HTTPMethod
    /// Whether the request carries the header fields that the app and its hooks add; see ``EndpointCredentials``.
    public let carriesCredentials: Bool
    private let received = Locked<HTTPResponse?>(nil)

    init(_ method: HTTPMethod, carriesCredentials: Bool) {
        self.method = method
        self.carriesCredentials = carriesCredentials
    }

    /// The latest answer, refusals included; nil until one came.
    public var answer: Answer? {
        response.map { Answer(status: $0.status, headers: $0.headers, url: $0.url) }
    }

    var response: HTTPResponse? {
        get { received.withLock { $0 } }
        set { received.withLock { $0 = newValue } }
    }
}

extension HookContext {
    /// The call of an endpoint; nil in calls of services.
    public var endpoint: EndpointCall? { params[EndpointCallKey.self] }
}

enum EndpointCallKey: ParamsKey {
    typealias Value = EndpointCall
}
