public import FeathersSupport
import Foundation

// The printed and dumped forms of requests, responses, and clients show only addresses and the names of header fields.

extension HTTPHeaders: SecretHiding {}

extension HTTPRequest: SecretHiding {
    public var description: String {
        "HTTPRequest(\(method) \(url.withoutCredentials), headers: \(headers), body: \(body?.count ?? 0) bytes)"
    }
}

extension HTTPResponse: SecretHiding {
    public var description: String {
        "HTTPResponse(\(status) \(url.withoutCredentials), headers: \(headers), body: \(body.count) bytes)"
    }
}

extension HTTPTransfer: SecretHiding {
    public var description: String { "HTTPTransfer(\(request))" }
}

extension WebSocketRequest: SecretHiding {
    public var description: String { "WebSocketRequest(\(url.withoutCredentials), headers: \(headers))" }
}

extension NetworkProxy: SecretHiding {
    public var description: String {
        switch self {
        case .environment: "NetworkProxy.environment"
        case .none: "NetworkProxy.none"
        // libcurl also accepts forms that aren't URLs, such as `user:password@host:1080`. Only the part after the last
        // @ is shown.
        case .url(let text, _):
            "NetworkProxy.url(\((text.split(separator: "@").last ?? "").prefix { $0 != "?" && $0 != "#" }))"
        }
    }
}

// The sessions and connections of these types hold header fields and proxy passwords, and belong to other threads.
extension URLSessionHTTPClient: SecretHiding {}
extension URLSessionWebSocketConnection: SecretHiding {}

#if canImport(FoundationNetworking)
    extension CurlHTTPClient: SecretHiding {}
    extension CurlWebSocketConnection: SecretHiding {}
#endif
