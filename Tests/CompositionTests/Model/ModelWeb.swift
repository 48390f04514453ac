import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSupport
import Foundation

/// How a model server is reached over HTTP: how it reads query strings, and what may be in between.
struct ModelWeb: Sendable {
    /// What happens to a request instead of its response.
    struct Detour: Sendable {
        let response: HTTPResponse
        /// Whether the server does not get the request.
        let isBefore: Bool
    }

    /// The number of elements from which on an array in a query string is an object.
    var arrayLimit = 1000
    var redirects = false
    /// Whether some requests do not arrive.
    var hasDetours: Bool { redirects || hasPortal }
    /// Whether a network's sign-in page responds to some requests.
    var hasPortal = false
    /// The operators whose arrays the server has read as objects.
    var faults: [String] = []
    private var writes = 0
    private var requests = 0

    init(_ traits: Set<HistoryTrait>) {
        if traits.contains(.shortArrays) { arrayLimit = 20 }
        (redirects, hasPortal) = (traits.contains(.redirects), traits.contains(.portal))
    }

    /// The transport to the server.
    func transport(to url: URL, _ client: any HTTPClient) -> RESTTransport {
        .rest(url, queryOptions: QueryStringOptions(arrayLimit: arrayLimit), httpClient: client)
    }

    mutating func takeFaults() -> [String] {
        defer { faults = [] }
        return faults
    }

    /// What happens to a request: nothing to most. A page that a redirect leads to has nothing to say.
    mutating func detour(of request: HTTPRequest) -> Detour? {
        if request.url.path == "/page" { return Detour(response: Self.page(request), isBefore: true) }
        guard request.url.path != "/authentication", request.url.path != "/refresh-tokens" else { return nil }
        requests += 1
        // A write without a key that was executed but not answered is not known to anyone over REST.
        let isRepeated = request.method == "GET" || request.url.query?.contains("key=") == true
        if hasPortal, requests.isMultiple(of: 7) {
            return Detour(response: Self.page(request), isBefore: !isRepeated || requests.isMultiple(of: 2))
        }
        guard redirects, request.method != "GET" else { return nil }
        writes += 1
        guard writes.isMultiple(of: 3) else { return nil }
        let status = [301, 302, 303][writes / 3 % 3]
        let fields: [HTTPHeaders.Field] = [("Location", "/page")]
        return Detour(
            response: HTTPResponse(status: status, headers: HTTPHeaders(received: fields), url: request.url),
            isBefore: !isRepeated || writes.isMultiple(of: 2))
    }

    private static func page(_ request: HTTPRequest) -> HTTPResponse {
        HTTPResponse(status: 200, body: Array(#"{"login":"now"}"#.utf8), url: request.url)
    }
}
