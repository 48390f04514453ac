import FeathersNetworking
import Foundation
import Synchronization
import TestBackend

/// Where a recorded call is replayed: gives the answers of its exchanges and tells what was sent.
protocol ReplayLane {
    var baseURL: URL { get }
    var httpClient: any HTTPClient { get }
    func sent() async throws -> [SentRequest]
}

/// A request as it left our transport.
struct SentRequest: Sendable {
    var method: String
    var target: String
    var headers: [RecordedField]
    var body: [UInt8]

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Replays at the seam, without a network: fast and exact.
final class SeamLane: ReplayLane, StreamingHTTPClient {
    let baseURL: URL
    private let answers: [RecordedResponse?]
    private let requests = Mutex<[HTTPRequest]>([])

    init(_ exchanges: [RecordedExchange]) throws {
        guard let baseURL = URL(string: "http://127.0.0.1:3030") else { throw ReplayFailure("No base URL") }
        self.baseURL = baseURL
        answers = exchanges.map(\.response)
    }

    var httpClient: any HTTPClient { self }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        for answer in answers {
            requests.withLock { $0.append(request) }
            guard let answer else { throw HTTPClientError(.timeout, "The request timed out") }
            let fields = answer.headers.map { (name: $0.name, value: $0.value) }
            let response = HTTPResponse(
                status: answer.status, headers: HTTPHeaders(received: fields), body: answer.content ?? [],
                url: request.url)
            guard let next = try HTTPRedirect.request(after: response, to: request),
                answers.count > requests.withLock({ $0.count })
            else {
                return response
            }
            request = next
        }
        throw ReplayFailure("Nothing to answer with")
    }

    func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        var request = transfer.request
        request.body = try await transfer.body?.bytes()
        let response = try await execute(request)
        guard let pipe = transfer.pipe, response.isSuccess else { return response }
        pipe.open(response) {}
        response.body.withUnsafeBytes { _ = pipe.write($0) }
        if answers.last??.end == "cut" {
            throw HTTPClientError(.connectionLost, "The connection was lost before the response was complete")
        }
        return response
    }

    func sent() async -> [SentRequest] {
        requests.withLock { $0 }.map { request in
            SentRequest(
                method: request.method,
                target: String(request.url.absoluteString.dropFirst(baseURL.absoluteString.count)),
                headers: request.headers.map { RecordedField(name: $0.name, value: $0.value) }, body: request.body ?? []
            )
        }
    }
}

/// Replays over a real connection: the script server answers, byte for byte where the recording has the bytes.
struct ScriptLane: ReplayLane {
    let httpClient: any HTTPClient
    private let script: ServerScript

    init(_ exchanges: [RecordedExchange], _ client: any HTTPClient) async throws {
        httpClient = client
        script = try await ServerScript { url in exchanges.map { Self.answer($0.response, below: url.path()) } }
    }

    var baseURL: URL { script.url }

    private static let framing: Set<String> = [
        "content-length", "transfer-encoding", "connection", "keep-alive", "date",
    ]

    private static func answer(_ response: RecordedResponse?, below path: String) -> ScriptedResponse {
        guard let response else { return .never }
        var answer = ScriptedResponse(status: response.status)
        answer.headers = response.headers.filter { !framing.contains($0.name.lowercased()) }.map { field in
            let isLocation = field.name.lowercased() == "location" && field.value.hasPrefix("/")
            return [field.name, isLocation ? path + field.value : field.value]
        }
        answer.body = nil
        let bytes = bytes(of: response, &answer)
        answer.bodyBase64 = Data(bytes).base64EncodedString()
        if response.end == "cut" {
            answer.headers?.append(["Content-Length", "\(bytes.count + 1)"])
            answer.closeAfterBytes = bytes.count
        }
        return answer
    }

    private static func bytes(of response: RecordedResponse, _ answer: inout ScriptedResponse) -> [UInt8] {
        guard let body = response.body else { return [] }
        if body.isWhole { return body.bytes }
        // A compressed body that was clipped: its content goes out as it is.
        answer.headers?.removeAll { $0[0].lowercased() == "content-encoding" }
        return response.content ?? body.bytes
    }

    func sent() async throws -> [SentRequest] {
        try await script.requests().map { request in
            let parts = request.line.split(separator: " ")
            let target = parts.dropFirst().dropLast().joined(separator: " ")
            return SentRequest(
                method: String(parts.first ?? ""), target: String(target.dropFirst(script.url.path().count)),
                headers: request.headers.map { RecordedField(name: $0[0], value: $0[1]) }, body: request.body)
        }
    }
}
