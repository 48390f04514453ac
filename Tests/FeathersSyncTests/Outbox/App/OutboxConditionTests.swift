import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// The tag of a record that `get` has brought over REST is the condition of the write that is made on it.
@Suite("Writes that expect a record as it was read", .timeLimit(.minutes(10)))
struct OutboxConditionTests {
    /// A server with one record, which checks `If-Match`.
    private struct Server: Sendable {
        struct State: Sendable {
            var text = "one"
            var version = 1
            var hasWeakTags = false
            /// The tag that the server sends instead of its own.
            var hostileTag: String?
            var requests: [HTTPRequest] = []
        }

        let state = Locked(State())

        var conditions: [String?] {
            state.withLock { $0.requests.filter { $0.method != "GET" }.map { $0.headers["If-Match"] } }
        }

        func change(to text: String) { state.withLock { ($0.text, $0.version) = (text, $0.version + 1) } }

        func answer(_ request: HTTPRequest) throws -> HTTPResponse {
            try state.withLock { state in
                state.requests.append(request)
                let isList = !request.url.path.hasSuffix("/1")
                if let tag = request.headers["If-Match"], tag != "\"\(state.version)\"" {
                    let error = FeathersError(FeathersError.Code(412), "The record has changed").wireForm
                    return HTTPResponse(status: 412, body: try error.serialized(), url: request.url)
                }
                if request.method != "GET" {
                    state.version += 1
                    if let body = request.body {
                        state.text = try JSONValue(parsing: body)["text"]?.string ?? state.text
                    }
                }
                let record: JSONValue = ["id": 1, "text": .string(state.text)]
                let tag = isList ? "\"list\"" : "\"\(state.version)\""
                let headers = HTTPHeaders(received: [
                    ("ETag", state.hostileTag ?? (state.hasWeakTags ? "W/\(tag)" : tag))
                ])
                return HTTPResponse(
                    status: 200, headers: headers, body: try (isList ? [record] : record).serialized(), url: request.url
                )
            }
        }
    }

    private let server = Server()
    private let folder: OutboxFolder

    init() throws { folder = try OutboxFolder() }

    private func app(_ configure: (inout OutboxOptions) -> Void = { _ in }) async throws -> FeathersApp {
        let server = server
        let http = StubHTTPClient { try server.answer($0) }
        let app = FeathersApp(transport: .rest(try #require(URL(string: "http://localhost:3030")), httpClient: http))
        try app.use(outbox: try await Outbox(file: folder.file, configure))
        return app
    }

    /// Sends what is queued, and closes the outbox.
    private func send(_ app: FeathersApp) async throws -> [OutboxEntry] {
        let left = try await withFeathersApp(app) { app in try await app.outbox?.flush(within: .seconds(300)) ?? [] }
        await app.outbox?.close()
        return left
    }

    @Test("keep the condition when they are replaced before they are sent")
    func replaced() async throws {
        let app = try await app()
        let notes = app.service("notes")
        _ = try await notes.get(1)
        let queued = try await notes.outbox.patch(1, with: ["text": "mine"])
        try await app.outbox?.decide(.replace(["text": "other"]), for: queued.id)
        server.change(to: "theirs")
        let left = try await send(app)
        #expect(server.conditions == ["\"1\""] && left.map(\.failure?.reason) == [.conflict])
        #expect(server.state.withLock { $0.text } == "theirs")
    }

    @Test(
        "carry no condition if the tag of the record is none",
        arguments: [
            "\"a\u{1}b\"", "\"a\r\nX-Admin: 1\"", "*", #""1", "2""#, "\"\(String(repeating: "x", count: 2000))\"",
        ])
    func hostileTag(tag: String) async throws {
        let app = try await app()
        server.state.withLock { $0.hostileTag = tag }
        _ = try await app.service("notes").get(1)
        try await app.service("notes").outbox.patch(1, with: ["text": "mine"])
        #expect(try await send(app).isEmpty)
        #expect(server.conditions == [nil] && server.state.withLock { $0.text } == "mine")
    }

    @Test("carry the tag of the record, also after a restart, and only the first of them")
    func tagged() async throws {
        let first = try await app { $0.squashesPatches = false }
        _ = try await first.service("notes").get(1)
        let queued = try await first.service("notes").outbox.patch(1, with: ["text": "mine"])
        try await first.service("notes").outbox.patch(1, with: ["text": "mine too"])
        #expect(queued.write.base == ["id": 1, "text": "one"])
        await first.outbox?.close()
        #expect(try await send(app()).isEmpty)
        #expect(server.conditions == ["\"1\"", nil])
        #expect(server.state.withLock { $0.text } == "mine too")
    }

    @Test(
        "fail if the record has changed, and can then be merged, or sent regardless",
        arguments: [OutboxDecision.merge, .retry])
    func changed(_ decision: OutboxDecision) async throws {
        let failures = Locked<[OutboxFailure]>([])
        let app = try await app { options in
            options.decide = { failure in
                failures.withLock { $0.append(failure) }
                return decision
            }
        }
        _ = try await app.service("notes").get(1)
        try await app.service("notes").outbox.patch(1, with: ["text": "mine"])
        server.change(to: "theirs")
        #expect(try await send(app).isEmpty)
        let failure = try #require(failures.withLock { $0.first })
        #expect(failure.reason == .conflict && failure.current?["text"] == "theirs" && failure.base?["text"] == "one")
        #expect(server.conditions == ["\"1\"", decision == .merge ? "\"2\"" : nil])
        #expect(server.state.withLock { $0.text } == "mine")
    }

    enum Reading: CaseIterable {
        case nothing, list, selection, beforeAWrite, weakTag
    }

    @Test("carry no tag that is weak or not the record's", arguments: Reading.allCases)
    func untagged(_ reading: Reading) async throws {
        let app = try await app()
        let notes = app.service("notes")
        switch reading {
        case .nothing: break
        case .list: _ = try await notes.find()
        case .selection: _ = try await notes.get(1, query: ["$select": ["text"]])
        case .weakTag:
            server.state.withLock { $0.hasWeakTags = true }
            _ = try await notes.get(1)
        case .beforeAWrite:
            _ = try await notes.get(1)
            _ = try await notes.patch(1, with: ["text": "direct"])
        }
        let queued = try await notes.outbox.patch(1, with: ["text": "mine"])
        #expect(queued.write.base == nil)
        #expect(try await send(app).isEmpty)
        #expect(server.conditions.last == .some(nil))
    }

    @Test("carry no tag if a live query has shown a later change, and none of another user's reading")
    func outdated() async throws {
        let app = try await app()
        let notes = app.service("notes")
        _ = try await notes.get(1)
        server.change(to: "later")
        var live = notes.live().makeAsyncIterator()
        #expect(try await live.next()?.first?["text"] == "later")
        #expect(try await notes.outbox.patch(1, with: ["text": "mine"]).write.base?["text"] == "later")
        app.setIdentity(Identity("alice"))
        _ = try await notes.get(1)
        app.setIdentity(Identity("bob"))
        #expect(try await notes.outbox.patch(1, with: ["text": "of bob"]).write.base == nil)
        _ = try await send(app)
        #expect(server.conditions.allSatisfy { $0 == nil })
    }
}
