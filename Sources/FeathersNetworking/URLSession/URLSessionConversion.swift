import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// - Throws: ``HTTPClientError`` where the URL or method cannot be sent.
    init(sending request: HTTPRequest) throws(HTTPClientError) {
        try request.checkSendable()
        self.init(url: request.url)
        httpMethod = request.method
        for field in request.headers {
            setValue(field.value, forHTTPHeaderField: field.name)
        }
        if let body = request.body {
            httpBody = Data(body)
        }
        if let timeout = request.timeout {
            // URLSession's timer restarts with every byte; ours is the deadline, so this one only has to stay out of its way.
            timeoutInterval = timeout.clamped.seconds + 5
        }
    }
}

extension HTTPResponse {
    init(_ response: HTTPURLResponse, body: [UInt8], requested url: URL) {
        let fields = response.allHeaderFields.compactMap { name, value -> HTTPHeaders.Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        self.init(status: response.statusCode, headers: HTTPHeaders(received: fields), body: body, url: response.url ?? url)
    }
}

extension Duration {
    /// Within what timers can be set to: nothing negative, at most a week.
    var clamped: Duration {
        min(max(self, .zero), .seconds(7 * 24 * 3600))
    }

    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
