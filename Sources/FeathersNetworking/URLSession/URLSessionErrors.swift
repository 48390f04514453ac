import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPClientError {
    /// Translates an error of URLSession. Only failures that come before the first byte of the request say *never sent*; where URLSession
    /// leaves it open, so do we.
    init(urlSession error: any Error, host: String?) {
        guard let error = error as? URLError else {
            self.init(.other, "The request failed", host: host, cause: error)
            return
        }
        let (kind, message) = Self.meaning(of: error)
        self.init(kind, message, host: host, cause: error)
    }

    private static func meaning(of error: URLError) -> (Kind, String) {
        #if canImport(FoundationNetworking)
            // Foundation on Linux gives most of what libcurl tells apart one code; libcurl's own words are in the description.
            let words = error.localizedDescription
            if words.hasPrefix("transfer closed") || words.hasPrefix("Empty reply") { return meaning(of: .networkConnectionLost) }
            if words.contains("SSL") { return meaning(of: .secureConnectionFailed) }
            if error.code == .unknown || error.code == .unsupportedURL {
                // The URL's scheme was checked before: what is unsupported here is the response's protocol.
                return (.badResponse, "The answer could not be read as HTTP: \(words)")
            }
        #endif
        return meaning(of: error.code)
    }

    private static func meaning(of code: URLError.Code) -> (Kind, String) {
        switch code {
        case .badURL, .unsupportedURL: (.invalidURL, "The URL cannot be requested")
        case .cannotFindHost, .dnsLookupFailed: (.hostNotFound, "The host was not found")
        case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed, .callIsActive:
            (.cannotConnect, "Could not connect to the server")
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
            .appTransportSecurityRequiresSecureConnection:
            (.tls, "The secure connection could not be made")
        case .timedOut: (.timeout, "No complete answer came in time")
        case .networkConnectionLost: (.connectionLost, "The connection was lost before the answer was complete")
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .zeroByteResource:
            (.badResponse, "The answer could not be read as HTTP")
        case .httpTooManyRedirects, .redirectToNonExistentLocation:
            (.tooManyRedirects, "The server redirects in a way that cannot be followed")
        case .dataLengthExceedsMaximum: (.responseTooLarge, "The answer is too large")
        default: (.other, "The request failed")
        }
    }
}
