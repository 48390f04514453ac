import FeathersCore
import FeathersTesting
import TestBackend
import Testing

@Suite("A stub transport", .timeLimit(.minutes(10)))
struct StubTransportTests {
    @Test("answers with the stub that describes a call most closely, of equals with the latest")
    func precedence() async throws {
        let transport = StubTransport { _ in "nobody" }
        let messages = FeathersApp(transport: transport).service("messages")
        #expect(try await messages.rawFind() == "nobody")
        transport.stub("/messages/", with: .value("path"))
        transport.stub(.find, with: .value("method"))
        #expect(try await messages.rawFind() == "path")
        #expect(try await messages.get(1) == "path")
        transport.stub("messages", .find, with: .value("both"))
        transport.stub("messages", with: .value("path, later"))
        #expect(try await messages.rawFind() == "both")
        #expect(try await messages.get(1) == "path, later")
        let first = transport.stub(where: { $0.method == .find }, with: .value("condition"))
        let second = transport.stub(where: { $0.params.query.json["vip"] != nil }, with: .value("later condition"))
        #expect(try await messages.rawFind(Query(["vip": true])) == "later condition")
        #expect(try await messages.rawFind() == "condition")
        transport.removeStub(first)
        transport.removeStub(second)
        #expect(try await messages.rawFind() == "both")
        transport.removeStub("messages", .find)
        #expect(try await messages.rawFind() == "path, later")
        transport.removeStub("messages")
        #expect(try await messages.rawFind() == "method")
        transport.removeAllStubs()
        #expect(try await messages.rawFind() == "nobody")
    }

    @Test("registered anew for the same calls answers in place of the old one, whose registration is void")
    func replacing() async throws {
        let transport = StubTransport()
        let messages = FeathersApp(transport: transport).service("messages")
        let old = transport.stub("messages", .get, with: .value("old"))
        transport.stub("messages", .get, with: .value("new"))
        transport.removeStub(old)
        #expect(try await messages.get(1) == "new")
        // One was replaced, so that nothing is left below.
        transport.removeStub("messages", .get)
        await #expect(throws: FeathersError.self) { try await messages.get(1) }
    }

    @Test("refuses what it has no stub for, by name")
    func strict() async throws {
        let transport = StubTransport()
        let error = try await #require(throws: FeathersError.self) {
            try await FeathersApp(transport: transport).service("rooms").call("open", with: ["password": "s3cret"])
        }
        #expect("\(error)" == "NotImplemented 501: No stub for 'open' of service 'rooms' (never sent)")
    }

    @Test("hands on to another transport what it has no stub for")
    func passThrough() async throws {
        let server = StubTransport { .string("server: \($0.path)") }
        let transport = StubTransport(passingThrough: server)
        transport.stub("a", with: .value("stub"))
        let app = FeathersApp(transport: transport)
        #expect(try await app.service("a").rawFind() == "stub")
        #expect(try await app.service("b").rawFind() == "server: b")
        #expect(transport.requests.map(\.path) == ["a", "b"])
        #expect(server.requests.map(\.path) == ["b"])
    }

    @Test("remembers calls with what became of them")
    func recording() async throws {
        let transport = StubTransport()
        transport.stub("messages", .get, with: .cycle([.value(["id": 1]), .error(FeathersError(.notFound, "None"))]))
        transport.stub("messages", .remove, with: .unanswered)
        let messages = FeathersApp(transport: transport).service("messages")
        _ = try await messages.get(1)
        _ = try? await messages.get(2)
        let removing = Task { try await messages.remove(3) }
        #expect(try await transport.waitForRequest(number: 3).id == 3)
        #expect(transport.calls[2].outcome == nil)
        removing.cancel()
        #expect(try await transport.waitForOutcome(number: 3).error is CancellationError)
        #expect(transport.calls.map(\.response) == [["id": 1], nil, nil])
        #expect(transport.calls(of: "messages", .get).map { ($0.error as? FeathersError)?.code } == [nil, .notFound])
        #expect(transport.calls(of: "messages").count == 3)
        #expect(transport.calls(of: "rooms").isEmpty)
        _ = try? await removing.value
    }

    @Test("keeps the timeout of a call")
    func timeout() async throws {
        let clock = ManualClock()
        let transport = StubTransport(clock: clock)
        transport.stub("messages", with: .unanswered)
        let messages = FeathersApp(transport: transport).service("messages")
        async let outcome = Result { try await messages.get(1, params: Params(timeout: .seconds(5))) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let result = await outcome
        let error = try #require(throws: FeathersError.self) { try result.get() }
        #expect(error.code == .timeout && error.execution == .mayHaveExecuted)
        #expect(transport.calls[0].error is FeathersError)
    }

    @Test("never meets another one, with two apps at work at once")
    func isolation() async throws {
        func work(_ name: String) async throws -> Set<JSONValue> {
            let transport = StubTransport()
            let messages = FeathersApp(transport: transport).service("messages")
            var answers: Set<JSONValue> = []
            for round in 0..<50 {
                transport.stub("messages", .get, with: .value(.string("\(name) \(round % 2)")))
                answers.insert(try await messages.get(1))
                await Task.yield()
            }
            #expect(transport.calls.count == 50)
            return answers
        }
        async let first = work("first")
        async let second = work("second")
        #expect(try await first == ["first 0", "first 1"])
        #expect(try await second == ["second 0", "second 1"])
    }
}

extension Result where Failure == any Error {
    /// What an asynchronous function returns or throws; for calls that run beside a test in an `async let`.
    init(catching body: sending () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
