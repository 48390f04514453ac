public import FeathersNetworking
public import Foundation

/// What tests tell the servers around them, over a client of its own.
public enum TestControl {
    /// Shared by nothing that is tested: waiting for counters must not take connections from anybody else.
    private static let client: any HTTPClient = {
        #if canImport(FoundationNetworking)
            if let client = try? CurlHTTPClient() { return client }
        #endif
        return PlatformHTTPClient.make()
    }()

    /// A server's no to what it was told.
    public struct Refused: Error {
        public let url: URL
        public let status: Int
        public let body: String
    }

    static func get(_ url: URL) async throws -> Data {
        try await send(HTTPRequest(url: url))
    }

    static func post(_ value: some Encodable, to url: URL) async throws -> Data {
        try await send(HTTPRequest(method: "POST", url: url, body: Array(JSONEncoder().encode(value))))
    }

    static func delete(_ url: URL) async throws {
        _ = try await send(HTTPRequest(method: "DELETE", url: url))
    }

    /// The answer's body.
    /// - Throws: ``Refused`` for any status from 400 on.
    private static func send(_ request: HTTPRequest) async throws -> Data {
        let response = try await answer(to: request)
        guard response.status < 400 else {
            throw Refused(
                url: request.url, status: response.status, body: String(decoding: response.body, as: UTF8.self))
        }
        return Data(response.body)
    }

    /// The answer, whatever it is.
    public static func answer(to request: HTTPRequest) async throws -> HTTPResponse {
        try await client.execute(request)
    }
}
