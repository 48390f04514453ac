public import Foundation

/// What the script server shall answer below a path of its own, and what it was sent there.
///
/// See `Tests/Support/Backend/backend/script.py` for the meaning of every member.
public struct ServerScript: Sendable {
    /// Where requests to this script start: `http://127.0.0.1:PORT/KEY`.
    public let url: URL
    private let key: String
    private let server: URL

    /// Registers the answers, given in order; the last one repeats.
    public init(_ responses: ScriptedResponse...) async throws {
        try await self.init(responses)
    }

    /// Registers the answers, made with the script's own address at hand.
    public init(_ responses: [ScriptedResponse]) async throws {
        try await self.init { _ in responses }
    }

    /// Registers answers that need to know where the script lives, such as redirects.
    public init(_ responses: (URL) -> [ScriptedResponse]) async throws {
        server = try await TestBackend.scriptServer()
        key = UUID().uuidString.lowercased()
        url = server.appending(path: key)
        _ = try await TestControl.post(["responses": responses(url)], to: server.appending(path: "__script/\(key)"))
    }

    /// Where requests to this script start over TLS.
    public func secureURL() async throws -> URL {
        try await TestBackend.secureScriptServer().url.appending(path: key)
    }

    /// What came in, once that is at least `count` requests of which `aborted` were given up by the client.
    public func requests(count: Int = 0, aborted: Int = 0) async throws -> [ScriptedRequest] {
        let url = server.appending(path: "__recorded/\(key)").appending(queryItems: [
            URLQueryItem(name: "count", value: String(count)), URLQueryItem(name: "aborted", value: String(aborted)),
        ])
        return try JSONDecoder().decode(ScriptedRequests.self, from: await TestControl.get(url)).requests
    }
}

/// One answer of the script server.
public struct ScriptedResponse: Encodable, Sendable {
    public var status: Int?
    public var reason: String?
    public var headers: [[String]]?
    public var body: String?
    public var bodyBase64: String?
    public var chunked: Bool?
    public var delayMs: Int?
    public var dripMs: Int?
    public var dripBytes: Int?
    public var closeAfterBytes: Int?
    public var reset: Bool?
    public var never: Bool?
    public var raw: String?

    public init(status: Int = 200, headers: [[String]] = [], body: String = "") {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Exactly these bytes, then the end of the connection.
    public static func raw(_ text: String) -> ScriptedResponse {
        var response = ScriptedResponse()
        response.raw = Data(text.utf8).base64EncodedString()
        return response
    }

    /// No answer until the client goes away.
    public static var never: ScriptedResponse {
        var response = ScriptedResponse()
        response.never = true
        return response
    }

    /// The same answer, changed.
    public func with(_ change: (inout ScriptedResponse) -> Void) -> ScriptedResponse {
        var response = self
        change(&response)
        return response
    }
}

/// One request as the script server received it.
public struct ScriptedRequest: Decodable, Sendable {
    /// The request line, byte for byte.
    public let line: String
    /// Name and value of every field, in order and case as sent.
    public let headers: [[String]]
    public let bodyBase64: String
    /// The number of the TCP connection it came over.
    public let connection: Int
    /// Whether the client ended the connection before the answer.
    public let aborted: Bool

    public var body: [UInt8] {
        Data(base64Encoded: bodyBase64).map(Array.init) ?? []
    }

    /// The value of a field, or nil.
    public func header(_ name: String) -> String? {
        headers.first { $0[0].lowercased() == name.lowercased() }?[1]
    }
}

private struct ScriptedRequests: Decodable {
    let requests: [ScriptedRequest]
}
