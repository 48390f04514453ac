public import FeathersNetworking
public import Foundation

/// An endpoint's answer: the value, and what HTTP said around it.
public struct EndpointResponse<Value: Sendable>: Sendable {
    /// What the body was decoded into.
    public var value: Value
    /// The status code, always one of 200 to 299; 200 where a hook gave the result and nothing was sent.
    public var status: Int
    /// The header fields; none where a hook gave the result.
    public var headers: HTTPHeaders
    /// The URL that answered, after redirects; the one that would have been asked where a hook gave the result.
    public var url: URL

    /// The same response with another value.
    public func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> EndpointResponse<Other> {
        EndpointResponse<Other>(value: try transform(value), status: status, headers: headers, url: url)
    }
}
