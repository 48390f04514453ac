import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("What an error says", .timeLimit(.minutes(10)))
struct ErrorReasonTests {
    struct Message: Codable, Sendable, Equatable {
        var id: Int
        var text: String
        var rating: Double = 0
    }

    private func failure(_ call: () async throws -> Void) async throws -> FeathersError {
        try await #require(throws: FeathersError.self) { try await call() }
    }

    @Test("It names the method and the path of the call, and what is shown to people is the same")
    func call() async throws {
        let transport = StubTransport { _ in
            throw FeathersError(.timeout, "No answer came in time", execution: .mayHaveExecuted)
        }
        let messages = FeathersApp(transport: transport).service("messages")
        let error = try await failure { _ = try await messages.get(1) }
        #expect(error.path == "messages" && error.method == .get)
        #expect(error.message == "No answer came in time")
        #expect("\(error)" == "Timeout 408: No answer came in time ('get' of 'messages', may have been executed)")
        #expect(error.localizedDescription == "\(error)" && error.failureReason?.contains("may have executed") == true)
    }

    @Test("It names the innermost call, and no call twice")
    func innermost() async throws {
        let app = FeathersApp(
            transport: StubTransport { request in
                guard request.path == "users" else { return ["id": 1] }
                throw FeathersError(.notFound, "'get' of 'users' found nothing")
            })
        let messages = app.service("messages")
        await messages.use(
            hooks: Hooks(after: [.get: [{ context in _ = try await context.app.service("users").get(7) }]]))
        let error = try await failure { _ = try await messages.get(1) }
        #expect(error.path == "users" && error.method == .get)
        #expect("\(error)" == "NotFound 404: 'get' of 'users' found nothing")
    }

    @Test("A record of a list that cannot be decoded is named by its position and id")
    func undecodable() async throws {
        let transport = StubTransport { _ in [["id": 1, "text": "a", "rating": 1], ["id": 500, "rating": 1]] }
        let messages = FeathersApp(transport: transport).service("messages", of: Message.self)
        let error = try await failure { _ = try await messages.find() }
        let message =
            "Record at index 1 (id 500) of the result of 'find' on service 'messages' "
            + "cannot be decoded as Message: 'text' is missing"
        #expect(error.message.hasPrefix(message))
        let page = try await failure { for try await _ in messages.pages() {} }
        #expect(page.message == error.message)
    }

    @Test("A result that cannot be decoded is named by its method and service")
    func undecodableMethods() async throws {
        let transport = StubTransport { request in
            request.id == nil && request.method != .create ? [["id": 1]] : ["id": 1]
        }
        let messages = FeathersApp(transport: transport).service("messages", of: Message.self)
        let data: JSONValue = ["text": "a"]
        let calls: [(ServiceMethod, () async throws -> Void)] = [
            (.find, { _ = try await messages.find() }), (.get, { _ = try await messages.get(1) }),
            (.create, { try await messages.create(data) }), (.create, { try await messages.create(["text": "a"]) }),
            (.update, { try await messages.update(1, with: data) }),
            (.patch, { try await messages.patch(1, with: data) }),
            (.patch, { try await messages.patch(1, with: ["text": "a"]) }),
            (.patch, { try await messages.patchAll(query: Query(), with: data) }),
            (.remove, { try await messages.remove(1) }),
            (.remove, { try await messages.removeAll(query: Query()) }),
            ("publish", { _ = try await messages.call("publish", with: data, returning: Message.self) }),
        ]
        for (method, call) in calls {
            let error = try await failure(call)
            #expect(
                error.message.contains("'\(method)' on service 'messages' cannot be decoded as "), "\(method): \(error)"
            )
        }
    }

    @Test("Records that cannot be decoded are skipped and reported where the caller says so")
    func skipped() async throws {
        let transport = StubTransport { _ in
            [["id": 1, "text": "a", "rating": 1], ["id": 500, "text": ["s3cret"], "rating": 1]]
        }
        let app = FeathersApp(transport: transport)
        let ledger = Ledger()
        app.use(diagnostics: ledger, levels: DiagnosticLevels(.warning))
        let messages = app.service("messages", of: Message.self)
        var params = Params()
        params.skipsUndecodableRecords = true
        #expect(try await messages.find(params: params).map(\.id) == [1])
        var pages: [Page<Message>] = []
        for try await page in messages.pages(params: params) { pages.append(page) }
        #expect(pages.map { $0.data.map(\.id) } == [[1]])
        #expect(ledger.events.count == 2 && ledger.messages.allSatisfy { $0.contains("Record at index 1 (id 500)") })
        #expect(!ledger.text.contains("s3cret"))
    }

    @Test(
        "A number that JSON has no form for is named by its path, and nothing is sent",
        arguments: [Double.nan, .infinity])
    func unencodable(number: Double) async throws {
        let transport = StubTransport()
        let messages = FeathersApp(transport: transport).service("messages", of: Message.self)
        let error = try await failure { try await messages.create(Message(id: 1, text: "s3cret", rating: number)) }
        #expect(error.code == .badRequest && error.execution == .neverSent)
        #expect(
            error.message.contains("'messages'") && error.message.contains("'rating'") && !"\(error)".contains("s3cret")
        )
    }

    @Test("Readers of events are warned once for each service where the transport receives none")
    func noEvents() async throws {
        let app = FeathersApp(transport: StubTransport())
        let ledger = Ledger()
        app.use(diagnostics: ledger, levels: DiagnosticLevels(.warning))
        let messages = app.service("messages")
        _ = (messages.events(.created), messages.deliveries(), app.service("messages", of: Message.self).changes())
        #expect(ledger.events.count == 1 && ledger.text.contains("'messages'"))
        _ = app.service("users").events(nil)
        #expect(ledger.events.count == 2)
        try await app.use(MemoryService(), at: "notes")
        _ = app.service("notes").events(nil)
        #expect(ledger.events.count == 2)
    }

    private struct Feed: DiagnosticSink {
        let continuation: AsyncStream<DiagnosticEvent>.Continuation

        func receive(_ event: DiagnosticEvent) { continuation.yield(event) }
    }

    @Test("Two readers of one stream are warned")
    func twoReaders() async throws {
        let app = FeathersApp()
        let (warnings, continuation) = AsyncStream.makeStream(of: DiagnosticEvent.self)
        app.use(diagnostics: Feed(continuation: continuation), levels: DiagnosticLevels(.warning))
        try await app.use(MemoryService(), at: "messages")
        let messages = app.service("messages")
        let created = messages.events(.created)
        async let first = created.first()
        async let second = created.first()
        #expect(try await warnings.first().message.contains("Two readers share one event stream of service 'messages'"))
        messages.emit(.created, 1)
        messages.emit(.created, 2)
        let seen = try await [first, second]
        #expect(seen.contains(1) && seen.contains(2))
    }

    @Test("Connecting over a transport that keeps no connection is refused")
    func connecting() async throws {
        let app = FeathersApp(transport: StubTransport())
        let error = try await failure { try await app.connect() }
        #expect(error.code == .badRequest && error.message.contains("'.socketIO(url)'"))
        try await FeathersApp().connect()
    }

    @Test("A path that is registered twice is reported")
    func twice() async throws {
        let app = FeathersApp()
        let ledger = Ledger()
        app.use(diagnostics: ledger, levels: DiagnosticLevels(.warning))
        try await app.use(MemoryService(), at: "messages")
        #expect(ledger.events.isEmpty)
        try await app.use(MemoryService(), at: "/messages")
        #expect(ledger.messages.map { $0.contains("'messages'") } == [true])
    }

    @Test("A method that a service of this process has with other labels is no method, which the error explains")
    func mislabelled() async throws {
        actor Mislabelled: ServiceProtocol {
            func get(id: ServiceID, _ params: Params) async throws -> JSONValue { .null }
        }
        let app = FeathersApp()
        try await app.use(Mislabelled(), at: "messages")
        let error = try await failure { _ = try await app.service("messages").get(1) }
        #expect(error.code == .methodNotAllowed && "\(error)".contains("signature"))
    }
}
