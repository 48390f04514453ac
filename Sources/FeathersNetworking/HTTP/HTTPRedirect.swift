import FeathersSupport
import Foundation

/// The redirect rules that all clients share (Fetch standard, "HTTP-redirect fetch").
package enum HTTPRedirect {
    /// Returns the request that follows a response, or nil if the response is final. A 303, and a 301 or 302 to a POST,
    /// continue as a GET without a body, as in every browser, if the request's policy allows that. A 307 or 308 repeats
    /// the request. When the origin changes, fields that may identify the sender are removed: a server must not be able
    /// to collect another server's tokens, which may be in any field. No request leads from https to http, where
    /// everyone on the network could read it.
    /// - Throws: ``HTTPClientError/Kind/invalidRedirect`` if the target cannot be requested, or
    ///   ``HTTPClientError/Kind/methodChanged``.
    package static func request(after response: HTTPResponse, to request: HTTPRequest) throws(HTTPClientError)
        -> HTTPRequest?
    {
        guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"] else {
            return nil
        }
        guard let target = URL(string: location, relativeTo: request.url)?.absoluteURL, target.isRequestable else {
            throw HTTPClientError(
                .invalidRedirect, "The server redirected to a URL that isn't http or https",
                host: request.url.hostAndPort)
        }
        let (origin, targetOrigin) = (Origin(request.url), Origin(target))
        if let origin, let targetOrigin, origin.isEncrypted, !targetOrigin.isEncrypted {
            throw HTTPClientError(
                .invalidRedirect, "The server redirected from \(origin) to \(targetOrigin), which is not encrypted")
        }
        var next = request
        next.url = target
        if becomesGet(method: request.method, status: response.status) {
            if case .followSameMethod = request.redirects {
                throw HTTPClientError(
                    .methodChanged,
                    "The server redirected \(request.method) to \(target.withoutCredentials) with status "
                        + "\(response.status), which would continue as GET without its data",
                    host: request.url.hostAndPort)
            }
            next.method = "GET"
            next.body = nil
            for name in ["Content-Type", "Content-Encoding", "Content-Language", "Content-Location"] {
                next.headers.remove(name)
            }
        }
        if origin != targetOrigin {
            next.hasLostFields = true
            for field in next.headers where !ImpersonalFields.names.contains(field.name.lowercased()) {
                next.headers.remove(field.name)
            }
        }
        return next
    }

    private static func becomesGet(method: String, status: Int) -> Bool {
        switch status {
        case 303: method != "GET" && method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }

    /// Executes a request and follows redirects as it allows, with a single deadline for all of them. `exchange` sends
    /// one request and returns its response by that deadline.
    package static func following(
        _ request: HTTPRequest, _ exchange: (HTTPRequest, ContinuousClock.Instant?) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let deadline = request.timeout.map { ContinuousClock.now.advanced(by: $0) }
        var request = request
        var hops = 0
        while true {
            var response: HTTPResponse
            do {
                response = try await exchange(request, deadline)
                if request.hasLostFields { response.hasLostFields = true }
            } catch var error as HTTPClientError where hops > 0 {
                // The server has already executed the first request.
                error.delivery = .mayHaveExecuted
                throw error
            }
            guard let maximum = request.redirects.maximum,
                let next = try Self.request(after: response, to: request)
            else {
                return response
            }
            hops += 1
            guard hops <= maximum else {
                throw HTTPClientError(
                    .tooManyRedirects, "The server redirected more than \(maximum) times", host: request.url.hostAndPort
                )
            }
            request = next
        }
    }
}
