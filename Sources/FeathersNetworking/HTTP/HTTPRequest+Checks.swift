extension HTTPRequest {
    /// - Throws: ``HTTPClientError`` where the URL or method cannot be sent.
    func checkSendable() throws(HTTPClientError) {
        guard url.isRequestable else {
            throw HTTPClientError(.invalidURL, "The URL is no http or https URL with host and valid port", host: url.hostAndPort)
        }
        guard HTTPFieldSyntax.isToken(method) else {
            throw HTTPClientError(.invalidHeader, "The method \(HTTPFieldSyntax.printable(method)) is no token")
        }
    }
}
