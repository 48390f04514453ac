public import FeathersSupport
import Foundation

// What requests, responses and clients show when printed or dumped: where they go, and the names of header fields.

extension HTTPHeaders: SecretHiding {}

extension HTTPRequest: SecretHiding, Summarized {
    package var summary: String { "HTTPRequest(\(method) \(url.withoutCredentials), headers: \(headers), body: \(body?.count ?? 0) bytes)" }
}

extension HTTPResponse: SecretHiding, Summarized {
    package var summary: String { "HTTPResponse(\(status) \(url.withoutCredentials), headers: \(headers), body: \(body.count) bytes)" }
}

extension HTTPTransfer: SecretHiding, Summarized {
    package var summary: String { "HTTPTransfer(\(request))" }
}

extension WebSocketRequest: SecretHiding, Summarized {
    package var summary: String { "WebSocketRequest(\(url.withoutCredentials), headers: \(headers))" }
}

extension NetworkProxy: SecretHiding, Summarized {
    package var summary: String {
        switch self {
        case .environment: "NetworkProxy.environment"
        case .none: "NetworkProxy.none"
        // libcurl also takes what is no URL, as `user:password@host:1080`: only what follows the last @ is shown.
        case .url(let text, _): "NetworkProxy.url(\((text.split(separator: "@").last ?? "").prefix { $0 != "?" && $0 != "#" }))"
        }
    }
}

// Their sessions and connections hold header fields and proxies' passwords, and are other threads' to read.
extension URLSessionHTTPClient: SecretHiding {}
extension URLSessionWebSocketConnection: SecretHiding {}

#if os(Linux)
    extension CurlHTTPClient: SecretHiding {}
    extension CurlWebSocketConnection: SecretHiding {}
#endif
