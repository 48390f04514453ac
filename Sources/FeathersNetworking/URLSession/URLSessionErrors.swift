import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPClientError {
    /// Translates a URLSession error. The request counts as never sent only if the failure precedes the request's first
    /// byte. If URLSession leaves that open, it may have been executed.
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
            // Foundation on Linux uses one code for most of the errors that libcurl distinguishes. libcurl's own text
            // is in the description.
            let words = error.localizedDescription
            if words.hasPrefix("transfer closed") || words.hasPrefix("Empty reply") {
                return meaning(of: .networkConnectionLost)
            }
            if words.contains("SSL") { return meaning(of: .secureConnectionFailed) }
            if error.code == .unknown || error.code == .unsupportedURL {
                // The URL's scheme was checked earlier, so it is the response that uses an unsupported protocol.
                return (.badResponse, "The response could not be read as HTTP: \(words)")
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
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
            .appTransportSecurityRequiresSecureConnection:
            (.tls, "The secure connection could not be established")
        case .timedOut: (.timeout, "The request timed out")
        case .networkConnectionLost: (.connectionLost, "The connection was lost before the response was complete")
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
            .zeroByteResource:
            (.badResponse, "The response could not be read as HTTP")
        case .httpTooManyRedirects, .redirectToNonExistentLocation:
            (.tooManyRedirects, "The server's redirects cannot be followed")
        case .dataLengthExceedsMaximum: (.responseTooLarge, "The response is too large")
        default: (.other, "The request failed")
        }
    }
}
