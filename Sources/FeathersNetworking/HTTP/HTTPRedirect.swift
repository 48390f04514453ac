import FeathersSupport
import Foundation

/// The rules for redirects, the same for every client (Fetch standard, "HTTP-redirect fetch").
package enum HTTPRedirect {
    /// The request that follows a response, or nil where the response is the final one. 303, and 301 and 302 to a POST, continue as a GET
    /// without body, as every browser does; 307 and 308 repeat the request. When the origin changes, only fields are kept that do not
    /// identify the sender: a server must not be able to collect another one's tokens, which may be in any field.
    /// - Throws: ``HTTPClientError/Kind/invalidRedirect`` where the target cannot be requested.
    package static func request(after response: HTTPResponse, to request: HTTPRequest) throws(HTTPClientError) -> HTTPRequest? {
        guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"] else { return nil }
        guard let target = URL(string: location, relativeTo: request.url)?.absoluteURL, target.isRequestable else {
            throw HTTPClientError(
                .invalidRedirect, "The server redirects to something that is no http or https URL", host: request.url.hostAndPort)
        }
        var next = request
        next.url = target
        if becomesGet(method: request.method, status: response.status) {
            next.method = "GET"
            next.body = nil
            for name in ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location"] { next.headers.remove(name) }
        }
        if Origin(request.url) != Origin(target) {
            for field in next.headers where !impersonal.contains(field.name.lowercased()) { next.headers.remove(field.name) }
        }
        return next
    }

    /// Fields about the request, its body and the response it wants. `X-Service-Method` is the name of a custom method.
    private static let impersonal: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding", "content-language",
        "content-location", "content-type", "expect", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "pragma", "prefer", "range", "user-agent", "x-service-method",
    ]

    private static func becomesGet(method: String, status: Int) -> Bool {
        switch status {
        case 303: method != "GET" && method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }

    /// Executes a request and follows redirects as it allows, one deadline over all.
    /// - Parameter exchange: sends one request and returns its response by the deadline.
    package static func following(
        _ request: HTTPRequest, _ exchange: (HTTPRequest, ContinuousClock.Instant?) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let deadline = request.timeout.map { ContinuousClock.now.advanced(by: $0) }
        var request = request
        var hops = 0
        while true {
            let response: HTTPResponse
            do {
                response = try await exchange(request, deadline)
            } catch var error as HTTPClientError where hops > 0 {
                // The server has executed the first request already.
                error.delivery = .mayHaveExecuted
                throw error
            }
            guard case .follow(let maximum) = request.redirects, let next = try Self.request(after: response, to: request) else {
                return response
            }
            hops += 1
            guard hops <= maximum else {
                throw HTTPClientError(.tooManyRedirects, "The server redirected more than \(maximum) times", host: request.url.hostAndPort)
            }
            request = next
        }
    }
}
