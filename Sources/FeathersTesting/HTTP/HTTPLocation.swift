import FeathersCore
import FeathersNetworking
import Foundation

/// The target of requests, given as a path or a URL, with or without a query.
struct HTTPLocation: Sendable {
    private let origin: String?
    private let path: String
    private let query: String?

    init(_ text: String) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let location = parts[0]
        query = parts.count > 1 ? parts[1] : nil
        if location.contains("://"), let url = URL(string: location) {
            origin = url.originText
            path = FeathersApp.stripSlashes(url.path(percentEncoded: true))
        } else {
            origin = nil
            path = FeathersApp.stripSlashes(location)
        }
    }

    var identity: String { "\(origin ?? "")/\(path)\(query.map { "?\($0)" } ?? "")" }

    /// How specifically the location describes a request.
    var rank: Int { 2 + (origin == nil ? 0 : 2) + (query == nil ? 0 : 4) }

    func matches(_ url: URL) -> Bool {
        guard FeathersApp.stripSlashes(url.path(percentEncoded: true)) == path else { return false }
        if let origin, origin != url.originText { return false }
        if let query, query != url.query(percentEncoded: true) ?? "" { return false }
        return true
    }
}

extension StubSelector where Request == HTTPRequest {
    /// Returns a selector for requests to a location, with a method, or both.
    static func requests(to location: String?, _ method: String?) -> StubSelector {
        let place = location.map { HTTPLocation($0) }
        return StubSelector(identity: [place?.identity, method], rank: (place?.rank ?? 0) + (method == nil ? 0 : 1)) {
            request in
            (method == nil || method == request.method) && (place?.matches(request.url) ?? true)
        }
    }
}

extension URL {
    fileprivate var originText: String {
        let scheme = scheme?.lowercased() ?? ""
        let standard = scheme == "https" ? 443 : 80
        return "\(scheme)://\(host()?.lowercased() ?? ""):\(port ?? standard)"
    }
}
