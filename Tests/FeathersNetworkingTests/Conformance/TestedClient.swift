import FeathersNetworking
import Testing

/// An implementation that must behave as the seam says.
struct TestedClient: Sendable, CustomTestStringConvertible {
    let testDescription: String

    /// A new client.
    let make: @Sendable () throws -> any ClosableHTTPClient

    static let urlSession = TestedClient(testDescription: "URLSession") { URLSessionHTTPClient() }

    #if os(Linux)
        static let libcurl = TestedClient(testDescription: "libcurl") { try CurlHTTPClient() }
        static let all = [urlSession, libcurl]
        /// Those that may be cancelled while they begin: Foundation's tasks on Linux then now and then wait for each
        /// other for ever.
        static let cancellableAnywhere = [libcurl]
    #else
        static let all = [urlSession]
        static let cancellableAnywhere = all
    #endif
}

/// Both clients can be closed, which the seam does not ask for.
protocol ClosableHTTPClient: HTTPClient {
    func close()
}

extension URLSessionHTTPClient: ClosableHTTPClient {}

#if os(Linux)
    extension CurlHTTPClient: ClosableHTTPClient {}
#endif

extension HTTPClient {
    /// The error a request ends with.
    func failure(_ request: HTTPRequest) async throws -> HTTPClientError {
        try await #require(throws: HTTPClientError.self) { try await execute(request) }
    }
}
