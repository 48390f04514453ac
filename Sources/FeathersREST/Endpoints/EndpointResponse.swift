public import FeathersNetworking
public import Foundation

/// An endpoint's response: the value, with status, header fields and URL.
public struct EndpointResponse<Value: Sendable>: Sendable {
    /// What the body was decoded into.
    public var value: Value
    /// The status code, always one of 200 to 299; 200 where a hook gave the result and nothing was sent.
    public var status: Int
    /// The header fields; none where a hook gave the result.
    public var headers: HTTPHeaders
    /// The URL that answered, after redirects; the one that would have been asked where a hook gave the result.
    public var url: URL
}

/// The response of an endpoint whose HTTP response became a file.
public struct DownloadedFile: Hashable, Sendable {
    /// Where the file is: the place that was asked for.
    public var url: URL
}

/// The response of an endpoint whose body is ignored: it is neither parsed nor decoded.
public struct EmptyResponse: Decodable, Hashable, Sendable {
    package init() {}
}
