import Feathers
import Foundation

/// A client of the gateway, over HTTP.
struct Browser: Sendable {
    let port: Int
    private let client = PlatformHTTPClient.make()

    init(port: Int) { self.port = port }

    struct Answer: Sendable {
        let status: Int
        let text: String
        let fields: HTTPHeaders
    }

    /// Sends a request as a user.
    /// - Parameters:
    ///   - token: the user's token; nil for none.
    ///   - fields: other header fields.
    func send(
        _ method: String = "GET", _ path: String, token: String? = nil, fields: [String: String] = [:],
        json: String? = nil
    ) async throws -> Answer {
        var headers = HTTPHeaders()
        if let token { try headers.set("Authorization", to: "Bearer \(token)") }
        if json != nil { try headers.set("Content-Type", to: "application/json") }
        for (name, value) in fields { try headers.set(name, to: value) }
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        let response = try await client.execute(
            HTTPRequest(method: method, url: url, headers: headers, body: json.map { Array($0.utf8) }))
        return Answer(
            status: response.status, text: String(decoding: response.body, as: UTF8.self), fields: response.headers)
    }
}
