import AsyncHTTPClient
import Feathers
import Foundation
import PooledHTTP
import Testing

/// The client to which the suites of `Tests/FeathersNetworkingTests/Conformance` apply here.
struct TestedClient: Sendable, CustomTestStringConvertible {
    let testDescription = "AsyncHTTPClient"

    static let all = [TestedClient()]
    static let cancellableAnywhere = all

    /// A new client.
    func make() throws -> any ClosableHTTPClient {
        var configuration = PooledHTTPClient.configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 128
        return ClosedAtEnd(AsyncHTTPClient.HTTPClient(configuration: configuration))
    }
}

protocol ClosableHTTPClient: Feathers.HTTPClient {
    func close()
}

/// Shuts AsyncHTTPClient down with the test.
private final class ClosedAtEnd: StreamingHTTPClient, ClosableHTTPClient {
    private let base: AsyncHTTPClient.HTTPClient
    private let client: PooledHTTPClient

    init(_ base: AsyncHTTPClient.HTTPClient) { (self.base, client) = (base, PooledHTTPClient(base)) }

    deinit { close() }

    func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse { try await client.execute(transfer) }
    func cancelAll() { client.cancelAll() }

    func close() {
        client.cancelAll()
        base.shutdown { _ in }
    }
}

extension Feathers.HTTPClient {
    /// The error a request ends with.
    func failure(_ request: HTTPRequest) async throws -> Feathers.HTTPClientError {
        try await #require(throws: Feathers.HTTPClientError.self) { try await execute(request) }
    }
}

extension URL {
    var hostAndPort: String? {
        guard let host = host() else { return nil }
        return port.map { "\(host):\($0)" } ?? host
    }
}
