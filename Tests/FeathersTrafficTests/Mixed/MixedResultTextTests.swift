import FeathersREST
import FeathersSupport
import FeathersTesting
import FeathersTraffic
import Foundation
import Testing

@testable import FeathersCore

@Suite("Result texts over both ways")
struct MixedResultTextTests {
    private struct Message: Codable, Sendable, Equatable {
        var id: Int
    }

    /// A transport of an app's own, which passes on what another one answers.
    private struct Wrapping: Transport {
        let inner: any Transport

        func send(_ request: ServiceRequest) async throws -> ServiceResponse {
            try await inner.send(request)
        }
    }

    private func rest() throws -> RESTTransport {
        let http = StubHTTPClient()
        http.stub("/messages/1", with: .json(["id": 1]))
        return .rest(try #require(URL(string: "http://localhost")), httpClient: http)
    }

    /// Whether the result of a typed call was a text when its hooks saw it.
    private func isText(over transport: any Transport) async throws -> Bool {
        let app = FeathersApp(transport: transport)
        let wasText = Locked(false)
        app.use(
            hooks: Hooks(around: [
                { context, next in
                    try await next(&context)
                    if context.response?.isText == true { wasText.withLock { $0 = true } }
                }
            ]))
        #expect(try await app.service("messages", of: Message.self).get(1) == Message(id: 1))
        return wasText.withLock { $0 }
    }

    @Test("come back over every way")
    func ways() async throws {
        let rest = try rest()
        #expect(try await isText(over: rest))
        #expect(try await isText(over: Wrapping(inner: rest)))
        #expect(try await isText(over: MixedTransport(realTime: StubRealTimeTransport(), rest: rest)))
        #expect(try await isText(over: MixedTransport(realTime: StubRealTimeTransport(), rest: Wrapping(inner: rest))))
    }

    @Test("are not shared: of identical reads everybody gets the result")
    func shared() async throws {
        let app = FeathersApp(transport: try rest())
        app.use(hooks: .coalescingReads())
        let messages = app.service("messages", of: Message.self)
        let found = try await withThrowingTaskGroup(of: Message.self) { group in
            for _ in 0..<20 { group.addTask { try await messages.get(1) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == Array(repeating: Message(id: 1), count: 20))
    }
}
