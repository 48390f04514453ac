public import Foundation

/// A complete HTTP answer.
public struct HTTPResponse: Sendable {
    /// The status code, for example 404.
    public var status: Int

    /// The header fields. Their order, and fields sent twice, depend on the implementation.
    public var headers: HTTPHeaders

    /// The body after decompression; empty where there was none.
    public var body: [UInt8]

    /// The URL that gave this answer: not the request's own where redirects were followed.
    public var url: URL

    /// A response; the parameters are the properties of the same names.
    public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], url: URL) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }
}
