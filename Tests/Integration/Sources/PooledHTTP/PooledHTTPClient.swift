import AsyncHTTPClient
import Feathers
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Sends an app's requests with AsyncHTTPClient, whose configuration has client
/// certificates, versions of TLS, Unix sockets, HTTP/2, and proxies.
///
/// The file is meant to be copied. Uploads, downloads and event streams are streamed.
public final class PooledHTTPClient: StreamingHTTPClient {
    private let client: AsyncHTTPClient.HTTPClient
    /// Ends the transfers in flight.
    private let ends = Mutex<[UUID: AsyncStream<Void>.Continuation]>([:])

    /// - Parameter client: The client, which you shut down after the app. Create it with
    ///   ``configuration``.
    public init(_ client: AsyncHTTPClient.HTTPClient) { self.client = client }

    /// A configuration to start from.
    public static var configuration: AsyncHTTPClient.HTTPClient.Configuration {
        var configuration = AsyncHTTPClient.HTTPClient.Configuration()
        // The app follows redirects itself, because tokens must not follow them.
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .enabled(limit: .ratio(1_000))
        // A call to a server that refuses connections fails at once, never sent.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(10)
        return configuration
    }

    public func execute(_ transfer: HTTPTransfer) async throws -> Feathers.HTTPResponse {
        let (id, (ending, end)) = (UUID(), AsyncStream.makeStream(of: Void.self))
        ends.withLock { $0[id] = end }
        defer { _ = ends.withLock { $0.removeValue(forKey: id) } }
        return try await withThrowingTaskGroup(of: Feathers.HTTPResponse.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await transfer.execute { try await self.send($0) } }
            group.addTask {
                for await _ in ending {}
                try Task.checkCancellation()
                throw Feathers.HTTPClientError(
                    .closed, "All requests of the HTTP client were canceled",
                    host: transfer.request.url.hostAndPort)
            }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }

    public func cancelAll() {
        for end in ends.withLock({ Array($0.values) }) { end.finish() }
    }

    private func send(_ exchange: HTTPExchange) async throws {
        let request = exchange.request
        var sent = HTTPClientRequest(url: request.url.absoluteString)
        sent.method = .init(rawValue: request.method)
        for field in request.headers { sent.headers.add(name: field.name, value: field.value) }
        sent.body = exchange.body.map { body in
            .stream(
                body.map { ByteBuffer(bytes: $0) },
                length: exchange.bodySize.map { .known($0) } ?? .unknown)
        }
        do {
            // The app keeps the deadline, by canceling this task.
            let received = try await client.execute(sent, deadline: .distantFuture)
            var head = Feathers.HTTPResponse(
                status: Int(received.status.code), url: request.url)
            for field in received.headers {
                // Repeated fields are one list (RFC 9110, section 5.3). Those that frame
                // the message are left out.
                let earlier = head.headers[field.name].map { "\($0), " } ?? ""
                try? head.headers.set(field.name, to: earlier + field.value)
            }
            let isCompressed = received.headers.contains(name: "Content-Encoding")
            let size = received.headers.first(name: "Content-Length").flatMap { Int64($0) }
            exchange.receiveHead(head, size: isCompressed ? nil : size)
            for try await part in received.body {
                try await exchange.receive(Array(part.readableBytesView))
            }
        } catch {
            throw Self.error(error, host: request.url.hostAndPort)
        }
    }

    /// Says what is known about the request's delivery. An error that is not known to come
    /// before the request may have come after it.
    private static func error(_ error: any Error, host: String?) -> any Error {
        switch error {
        case is Feathers.HTTPClientError, is CancellationError: error
        case is NIOConnectionError:
            Feathers.HTTPClientError(
                .cannotConnect, "The server cannot be reached", host: host, cause: error)
        case let error as AsyncHTTPClient.HTTPClientError:
            Self.error(error, host: host)
        default:
            Feathers.HTTPClientError(
                .connectionLost, "The connection ended", host: host, cause: error)
        }
    }

    private static func error(_ error: AsyncHTTPClient.HTTPClientError, host: String?)
        -> Feathers.HTTPClientError
    {
        switch error {
        case .connectTimeout:
            .init(
                .timeout, "No connection in time", host: host, delivery: .neverSent,
                cause: error)
        case .getConnectionFromPoolTimeout:
            .init(.overloaded, "No connection is free", host: host, cause: error)
        case .tlsHandshakeTimeout:
            .init(.tls, "No secure connection in time", host: host, cause: error)
        case .alreadyShutdown:
            .init(
                .closed, "The HTTP client was closed", host: host, delivery: .neverSent,
                cause: error)
        case .cancelled:
            .init(.closed, "The HTTP client was closed", host: host, cause: error)
        case .invalidURL, .emptyHost, .emptyScheme:
            .init(.invalidURL, "The URL cannot be requested", host: host, cause: error)
        default: .init(.connectionLost, "The connection ended", host: host, cause: error)
        }
    }
}

extension URL {
    fileprivate var hostAndPort: String? {
        guard let host = host() else { return nil }
        return port.map { "\(host):\($0)" } ?? host
    }
}
