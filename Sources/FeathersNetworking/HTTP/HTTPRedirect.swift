import Foundation

/// The rules of following redirects, the same for every client (Fetch standard, "HTTP-redirect fetch").
package enum HTTPRedirect {
    /// The request that follows an answer, or nil where the answer is the final one.
    ///
    /// 303, and 301 and 302 to a POST, continue as a GET without body, as every browser does; 307 and 308 repeat the request.
    /// When the origin changes, only fields go along that say nothing of who asks: a server must not be able to collect another one's tokens,
    /// which may stand in any field.
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
        if request.url.origin != target.origin {
            for field in next.headers where !impersonal.contains(field.name.lowercased()) { next.headers.remove(field.name) }
        }
        return next
    }

    /// What a request says of itself, its body and the answer it wants; without the last one a custom method would become another one.
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
}
