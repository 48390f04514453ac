extension HTTPRedirect {
    /// Executes a request and follows redirects as it allows, one deadline over all.
    /// - Parameter exchange: sends one request and gives its answer, not later than the deadline.
    package static func following(
        _ request: HTTPRequest,
        _ exchange: (HTTPRequest, ContinuousClock.Instant?) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let deadline = request.timeout.map { ContinuousClock.now.advanced(by: $0) }
        var request = request
        var hops = 0
        while true {
            let response: HTTPResponse
            do {
                response = try await exchange(request, deadline)
            } catch var error as HTTPClientError where hops > 0 {
                // The server has already answered the first request.
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
