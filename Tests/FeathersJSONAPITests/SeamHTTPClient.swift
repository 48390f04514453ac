import FeathersCore
import FeathersJSONAPI
import FeathersNetworking
import Foundation
import Synchronization
import Testing

/// An HTTP client at the seam: records what it is asked and answers with what it is told, one answer after the other,
/// without a network.
final class SeamHTTPClient: HTTPClient {
    struct Answer: Sendable {
        var status = 200
        var headers: [(String, String)] = []
        var body = ""

        init(_ body: String, status: Int = 200, headers: [(String, String)] = []) {
            self.body = body
            self.status = status
            self.headers = headers
        }
    }

    private struct State {
        var requests: [HTTPRequest] = []
        var answers: [Answer]
    }

    private let state: Mutex<State>

    init(_ answers: [Answer]) {
        state = Mutex(State(answers: answers))
    }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            // The last answer is given for ever.
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        return HTTPResponse(
            status: answer.status, headers: HTTPHeaders(received: answer.headers.map { ($0.0, $0.1) }),
            body: Array(answer.body.utf8),
            url: request.url)
    }

    var requests: [HTTPRequest] {
        state.withLock { $0.requests }
    }
}

/// An app with a JSON:API server at the seam.
struct SeamServer {
    let client: SeamHTTPClient
    let app: FeathersApp

    init(
        _ answers: SeamHTTPClient.Answer..., codec: JSONAPICodec = JSONAPICodec(),
        options: JSONAPIOptions = JSONAPIOptions(),
        headers: [String: String] = [:]
    ) throws {
        client = SeamHTTPClient(answers)
        app = FeathersApp(
            transport: .jsonAPI(
                try #require(URL(string: "https://example.com/v1/")), codec: codec, options: options, headers: headers,
                httpClient: client))
    }

    /// Each request as `METHOD /path?query`.
    var lines: [String] {
        client.requests.map { "\($0.method) \($0.url.absoluteString.dropFirst("https://example.com".count))" }
    }

    /// The bodies as JSON; nil for requests without one.
    var bodies: [JSONValue?] {
        client.requests.map { $0.body.flatMap { try? JSONValue(parsing: $0) } }
    }
}
