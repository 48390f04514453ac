public import FeathersNetworking
public import Foundation

/// An endpoint's response: the value, with status, header fields and URL.
public struct EndpointResponse<Value: Sendable>: Sendable {
    /// The value decoded from the body.
    public var value: Value
    /// The status code, always 200 to 299; 200 if a hook set the result and nothing was sent.
    public var status: Int
    /// The header fields; empty if a hook set the result.
    public var headers: HTTPHeaders
    /// The URL of the response, after redirects. If a hook set the result, the URL that the request would have used.
    public var url: URL
}

/// The response of an endpoint that downloads a file.
public struct DownloadedFile: Hashable, Sendable {
    /// The location of the file, as requested.
    public var url: URL
}

/// The response of an endpoint whose body is ignored: it is neither parsed nor decoded.
public struct EmptyResponse: Decodable, Hashable, Sendable {
    package init() {}
}
