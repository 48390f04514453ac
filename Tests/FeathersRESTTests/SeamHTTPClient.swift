import FeathersNetworking
import Foundation
import Synchronization

/// An HTTP client at the seam: records what it is asked and answers with what it is told, without a network.
final class SeamHTTPClient: HTTPClient {
    private let recorded = Mutex<[HTTPRequest]>([])
    private let answer: @Sendable (HTTPRequest) throws -> HTTPResponse

    init(_ answer: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse) {
        self.answer = answer
    }

    convenience init(status: Int = 200, headers: [(String, String)] = [], body: String = "") {
        self.init { request in
            HTTPResponse(
                status: status, headers: HTTPHeaders(received: headers.map { ($0.0, $0.1) }), body: Array(body.utf8),
                url: request.url)
        }
    }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        recorded.withLock { $0.append(request) }
        return try answer(request)
    }

    var requests: [HTTPRequest] {
        recorded.withLock { $0 }
    }
}
