import Feathers
import FeathersSupport
import FeathersTesting
import Foundation

/// A note, as the tests of drafts edit it.
struct Note: Codable, Sendable, Equatable, Identifiable {
    var id: Int
    var text: String
    var title: String?
    var due: Date?
}

/// A server with the record 7 over REST, which may tag it, and check the condition of a patch.
final class DraftServer: Sendable {
    enum Tags: Sendable, CaseIterable {
        case none, weak, strong
    }

    private struct State {
        var record: JSONObject
        var version = 1
        var requests: [HTTPRequest] = []
        /// What others change immediately before a patch arrives.
        var races: [JSONObject] = []
        /// The refusals of patches.
        var refusals: [FeathersError] = []
        var returnsNothing = false
    }

    private let state: Locked<State>
    let tags: Tags

    init(_ tags: Tags = .none, _ record: JSONObject = ["id": 7, "text": "one", "title": "first", "owner": "ada"]) {
        self.tags = tags
        state = Locked(State(record: record))
    }

    var record: JSONObject { state.withLock { $0.record } }
    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    var methods: [String] { requests.map(\.method) }
    var patches: [HTTPRequest] { requests.filter { $0.method == "PATCH" } }

    /// The bodies of the patches.
    func sent() throws -> [JSONValue] { try patches.map { try JSONValue(parsing: $0.body ?? []) } }

    /// Another client's write.
    func change(_ changes: JSONObject) { state.withLock { Self.apply(changes, &$0) } }

    /// Lets others write immediately before each of the next patches.
    func race(_ changes: JSONObject...) { state.withLock { $0.races += changes } }

    func refuse(_ errors: FeathersError...) { state.withLock { $0.refusals += errors } }

    func returnNothing() { state.withLock { $0.returnsNothing = true } }

    func app() throws -> FeathersApp {
        let http = StubHTTPClient { try self.respond(to: $0) }
        guard let url = URL(string: "http://localhost:3030") else { throw CancellationError() }
        return FeathersApp(transport: .rest(url, httpClient: http))
    }

    private static func apply(_ changes: JSONObject, _ state: inout State) {
        for (name, value) in changes { state.record[name] = value }
        state.version += 1
    }

    private func respond(to request: HTTPRequest) throws -> HTTPResponse {
        try state.withLock { state in
            state.requests.append(request)
            if request.method == "PATCH" {
                if !state.races.isEmpty { Self.apply(state.races.removeFirst(), &state) }
                let condition = request.headers["If-Match"]
                if !state.refusals.isEmpty { return try Self.refusal(state.refusals.removeFirst(), request.url) }
                if let condition, condition != "\"\(state.version)\"" {
                    return try Self.refusal(FeathersError(FeathersError.Code(412), "Changed"), request.url)
                }
                Self.apply(try JSONValue(parsing: request.body ?? []).object ?? [:], &state)
                if state.returnsNothing { return HTTPResponse(status: 204, body: [], url: request.url) }
            }
            let tag: String? =
                switch tags {
                case .none: nil
                case .weak: "W/\"\(state.version)\""
                case .strong: "\"\(state.version)\""
                }
            let headers = HTTPHeaders(received: tag.map { [("ETag", $0)] } ?? [])
            return HTTPResponse(
                status: 200, headers: headers, body: try JSONValue.object(state.record).serialized(), url: request.url)
        }
    }

    private static func refusal(_ error: FeathersError, _ url: URL) throws -> HTTPResponse {
        HTTPResponse(status: error.code.rawValue, body: try error.wireForm.serialized(), url: url)
    }
}
