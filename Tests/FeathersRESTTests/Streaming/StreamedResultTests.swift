import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

private struct Item: Codable, Sendable, Equatable {
    var n: Int
    var isLast: Bool?
}

@Suite(
    "Streamed results of a FeathersJS 6 server", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10))
)
struct StreamedResultTests {
    struct Client: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () -> any HTTPClient

        static let all = [
            Client(testDescription: "platform", make: { PlatformHTTPClient.make() }),
            Client(testDescription: "URLSession", make: { URLSessionHTTPClient() }),
        ]
    }

    private func app(_ client: Client = .all[0]) async throws -> FeathersApp {
        let url = try await TestBackend.url().appending(path: "v6")
        return FeathersApp(transport: .feathers6(url) { $0.httpClient = client.make() })
    }

    private func all<Element>(_ stream: AsyncThrowingStream<Element, any Error>) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in stream { elements.append(element) }
        return elements
    }

    @Test("come item by item, of any method", arguments: Client.all)
    func items(_ client: Client) async throws {
        let streams = try await app(client).service("streams")
        let hundred: [JSONValue] = (0..<100).map { ["n": .integer(Int64($0))] }
        #expect(try await all(streams.stream(.get, id: "many")) == hundred)
        #expect(try await all(streams.stream(.find)) == hundred)
        #expect(try await all(streams.stream(.create, with: ["kind": "many"])) == hundred)
        #expect(try await all(streams.stream(.patch, id: "one", with: ["a": 1])) == [["n": 0]])
        #expect(try await all(streams.stream(.update, id: "one", with: ["a": 1])) == [["n": 0]])
        #expect(try await all(streams.stream(.remove, id: "one")) == [["n": 0]])
        #expect(try await all(streams.stream("tokens", with: ["kind": "one"])) == [["n": 0]])
        #expect(try await all(streams.stream(.get, id: "empty")) == [])
        #expect(try await all(streams.stream(.get, id: "unicode")) == [["text": "aé€😀\u{2028}\n\r"]])
        #expect(try await all(streams.stream(.find, query: ["count": 20_000])).count == 20_000)
    }

    @Test("are decoded as models")
    func models() async throws {
        let app = try await app()
        let items = app.service("streams").stream(.get, id: "last", as: Item.self, endingWith: { $0.isLast == true })
        #expect(try await all(items) == [Item(n: 0), Item(n: 1), Item(n: 2, isLast: true)])
        let models = app.service("streams", of: Item.self)
        #expect(try await all(models.stream(.create, with: ["kind": "one"])) == [Item(n: 0)])
        await #expect { try await all(models.stream(.get, id: "unicode")) } throws: {
            "\($0)".contains("An item of 'get' on service 'streams' cannot be decoded as Item")
        }
    }

    @Test("that end without their last item throw, if it is known")
    func incomplete() async throws {
        let streams = try await app().service("streams")
        #expect(try await all(streams.stream(.get, id: "fail")).count == 2)
        var seen = 0
        await #expect {
            for try await _ in streams.stream(.get, id: "fail", endingWith: { $0["isLast"] == true }) { seen += 1 }
        } throws: {
            "\($0)".contains("endingWith")
        }
        #expect(seen == 2)
    }

    @Test("that are cut throw after their items", arguments: Client.all)
    func cut(_ client: Client) async throws {
        let streams = try await app(client).service("streams")
        var seen = 0
        await #expect {
            for try await _ in streams.stream(.get, id: "cut") { seen += 1 }
        } throws: { error in
            let error = error as? FeathersError
            return error?.code == .unavailable && error?.execution == .mayHaveExecuted
        }
        #expect(seen == 2)
    }

    @Test("are refused by an ordinary error before the first item")
    func refused() async throws {
        let streams = try await app().service("streams")
        await #expect { try await all(streams.stream(.get, id: "refused")) } throws: { error in
            let error = error as? FeathersError
            return error?.code == .conflict && error?.execution == .answered && error?.data == ["why": "test"]
        }
    }

    @Test("need not be streamed by the server")
    func plain() async throws {
        let streams = try await app().service("streams")
        #expect(try await all(streams.stream(.get, id: "plain")) == [["n": 0], ["n": 1]])
        #expect(try await all(streams.stream(.create, with: ["kind": "echo"])).first?["data"]?["kind"] == "echo")
    }

    @Test("are told of to plain calls", arguments: ["one", "empty"])
    func plainCall(_ id: String) async throws {
        let streams = try await app().service("streams")
        await #expect { try await streams.get(id) } throws: { "\($0)".contains("read it with 'stream(.get, …)'") }
    }

    @Test("end on the server when their reader leaves, or is cancelled", arguments: Client.all)
    func leaving(_ client: Client) async throws {
        // A server of its own, so that no other streams are counted.
        let backend = TestBackend(variables: [:])
        let url = try await backend.url()
        let app = FeathersApp(transport: .feathers6(url.appending(path: "v6")) { $0.httpClient = client.make() })
        let streams = app.service("streams")
        var seen = 0
        for try await _ in streams.stream(.get, id: "endless") {
            seen += 1
            if seen == 1000 { break }
        }
        let reached = Promise<Void>()
        let reader = Task {
            for try await _ in streams.stream(.get, id: "silent") { reached.resolve(()) }
        }
        try await reached.value()
        reader.cancel()
        _ = await reader.result
        // The server notices when it next looks at the connection.
        while try await FeathersApp(transport: .rest(url)).service("control").create(["op": "streams"])["results"] != 0
        {}
    }

    @Test("run the hooks of their call before the first item and after the last")
    func hooks() async throws {
        let log = Locked<[String]>([])
        let streams = try await app().service("streams")
        await streams.use(
            hooks: Hooks(
                around: [
                    { context, next in
                        log.withLock { $0.append("begin") }
                        try await next(&context)
                        log.withLock { $0.append("end") }
                    }
                ],
                before: [.get: [{ context in context.params.query = ["count": 2] }]],
                after: [{ context in log.withLock { $0.append("after \(context.result ?? "-")") } }],
                error: [{ context in log.withLock { $0.append("error") } }]))
        for try await item in streams.stream(.get, id: "many") { log.withLock { $0.append("\(item["n"] ?? .null)") } }
        #expect(log.withLock { $0.first } == "begin")
        #expect(log.withLock { $0.sorted() } == ["0", "1", "after null", "begin", "end"])
        log.withLock { $0 = [] }
        await #expect(throws: FeathersError.self) { try await all(streams.stream(.get, id: "cut")) }
        #expect(log.withLock { $0 } == ["begin", "error"])
    }
}

@Suite("Streamed results in the process")
struct LocalStreamTests {
    private actor Counter: ServiceProtocol {
        let ended: Promise<Void>

        init(ended: Promise<Void>) { self.ended = ended }

        func respond(to request: ServiceRequest) async throws -> ServiceResponse {
            let (stream, continuation) = AsyncThrowingStream.makeStream(of: Item.self)
            continuation.onTermination = { [ended] _ in ended.resolve(()) }
            for number in 0..<3 { continuation.yield(Item(n: number)) }
            if request.data?["fails"] == true {
                continuation.finish(throwing: FeathersError(.conflict, "Stop"))
            } else if request.data?["stays"] != true {
                continuation.finish()
            }
            return ServiceResponse(stream: stream)
        }
    }

    @Test("come from services of one's own, with their errors, and end with their readers")
    func own() async throws {
        let app = FeathersApp()
        let ended = Promise<Void>()
        let counter = try await app.use(Counter(ended: ended), at: "counter")
        var seen: [Int] = []
        for try await item in counter.stream(.create, as: Item.self) { seen.append(item.n) }
        #expect(seen == [0, 1, 2])
        await #expect {
            for try await item in counter.stream(.create, with: ["fails": true], as: Item.self) { seen.append(item.n) }
        } throws: {
            FeathersError.Code.conflict ~= $0
        }
        #expect(seen == [0, 1, 2, 0, 1, 2])
        await #expect { try await counter.create([:]) } throws: { "\($0)".contains("streams its result") }
    }

    @Test("end with their readers")
    func leaving() async throws {
        let app = FeathersApp()
        let ended = Promise<Void>()
        let counter = try await app.use(Counter(ended: ended), at: "counter")
        for try await item in counter.stream(.create, with: ["stays": true], as: Item.self) where item.n == 2 { break }
        try await ended.value()
    }

    @Test("may be plain results, and those of hooks")
    func plain() async throws {
        let app = FeathersApp()
        let records = try await app.use(MemoryService(multi: .all), at: "records")
        try await records.create(contentsOf: [["n": 1], ["n": 2]])
        var seen: [JSONValue?] = []
        for try await record in records.stream(.find) { seen.append(record["n"]) }
        #expect(seen == [1, 2])
        await records.use(hooks: Hooks(before: [.get: [{ $0.result = ["n": 7] }]]))
        seen = []
        for try await record in records.stream(.get, id: 99) { seen.append(record["n"]) }
        #expect(seen == [7])
    }

    @Test("begin when they are read")
    func lazy() async throws {
        let stub = StubTransport { _ in ["n": 1] }
        let service = FeathersApp(transport: stub).service("items")
        do { _ = service.stream(.find) }
        let stream = service.stream(.find)
        #expect(stub.requests.isEmpty)
        for try await item in stream { #expect(item == ["n": 1]) }
        #expect(stub.requests.count == 1)
    }
}
