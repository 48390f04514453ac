import FeathersCore
import FeathersTesting
import Synchronization
import TestBackend
import Testing

@Suite("The report of a call", .timeLimit(.minutes(10)))
struct CallDiagnosticsTests {
    private let ledger = Ledger()
    private let transport = StubTransport { _ in .null }

    private func app(levels: DiagnosticLevels = DiagnosticLevels(.trace), verbosity: DiagnosticVerbosity = .brief)
        -> FeathersApp
    {
        let app = FeathersApp(transport: transport)
        app.use(diagnostics: ledger, levels: levels, verbosity: verbosity)
        return app
    }

    @Test("comes once, with who, what, how long and how it ended, typed")
    func once() async throws {
        transport.stub(
            "messages", .get,
            with: .choose { $0.id == 1 ? .value(["id": 1]) : .error(FeathersError(.notFound, "None")) })
        let messages = app(levels: DiagnosticLevels(.info)).service("messages")
        _ = try await messages.get(1, query: Query(["a": 1]))
        _ = try? await messages.get("x")
        let events = ledger.events
        #expect(events.map(\.timeless) == ["get messages/1 ok", "get messages/x failed: NotFound 404: None"])
        #expect(events.map(\.domain) == [.calls, .calls])
        #expect(events[0][.path] == "messages" && events[0][.method] == "get" && events[0][.id] == "1")
        #expect(events[0][.query] == .json(["a": 1]))
        #expect(events.map { $0[.outcome] } == ["ok", "failed"])
        #expect(events.map { $0[.code] } == [nil, 404])
        #expect(events[1][.error] == "NotFound" && events[1].error is FeathersError)
        #expect(events.allSatisfy { $0.duration ?? .zero > .zero })
        #expect(events[0].description.hasSuffix(#" ms) query={"a":1}"#))
    }

    struct Ending: CustomTestStringConvertible {
        let testDescription: String
        let stub: ServiceStub
        let level: DiagnosticLevel
        let message: String
    }

    private struct Broken: Error, CustomStringConvertible { let description = "s3cret" }

    @Test(
        "says by its level how it ended",
        arguments: [
            Ending(testDescription: "success", stub: .value(1), level: .info, message: "find m ok"),
            Ending(
                testDescription: "refusal", stub: .error(FeathersError(.forbidden, "No")), level: .warning,
                message: "find m failed: Forbidden 403: No"),
            Ending(
                testDescription: "server error", stub: .error(FeathersError(.generalError, "Oops")), level: .error,
                message: "find m failed: GeneralError 500: Oops"),
            Ending(
                testDescription: "timeout", stub: .error(FeathersError(.timeout, "Late", execution: .mayHaveExecuted)),
                level: .error,
                message: "find m failed: Timeout 408: Late"),
            Ending(
                testDescription: "cancellation", stub: .error(CancellationError()), level: .info,
                message: "find m cancelled"),
            Ending(
                testDescription: "an error of one's own", stub: .error(Broken()), level: .error,
                message: "find m failed: Broken"),
        ])
    func levels(_ ending: Ending) async throws {
        transport.stub("m", with: ending.stub)
        _ = try? await app(levels: DiagnosticLevels(.info)).service("m").rawFind()
        #expect(ledger.events.map(\.level) == [ending.level])
        #expect(ledger.events.map(\.timeless) == [ending.message])
    }

    @Test("is of what the caller sees, whatever was registered before and whoever asks")
    func outermost() async throws {
        let app = FeathersApp(transport: transport)
        app.use(hooks: Hooks(after: [{ $0.result = "app" }], error: [{ $0.result = "mended" }]))
        transport.stub("broken", with: .error(FeathersError(.gone, "Gone")))
        let service = app.service("broken")
        app.use(diagnostics: ledger, verbosity: .verbose())
        let ofService = Ledger()
        await service.use(hooks: .logging(to: ofService))
        #expect(try await service.rawFind() == "mended")
        #expect(ledger.events.map(\.timeless) == ["find broken ok"])
        #expect(ledger.events[0][.result] == "\"mended\"")
        // One call, whoever hears of it.
        #expect(ofService.events.map(\.callID) == ledger.events.map(\.callID))
        _ = try await app.service("messages").rawFind()
        #expect(ofService.events.count == 1 && ledger.events.count == 2)
    }

    @Test("ties start, attempts and end together")
    func attempts() async throws {
        let clock = ManualClock()
        transport.stub("m", with: .cycle([.error(FeathersError(.unavailable, "Busy")), .value(1)]))
        let app = app()
        app.use(hooks: .retrying(pause: .seconds(1), clock: clock))
        async let call = app.service("m").rawFind()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        _ = try await call
        let events = ledger.events
        #expect(events.map(\.level) == [.trace, .notice, .info])
        #expect(Set(events.map(\.callID)).count == 1 && events[0].callID != nil)
        #expect(events[0].message == "find m")
        #expect(events[1].message.hasPrefix("find m will be retried in "))
        #expect(events.map { $0[.attempt] } == [nil, 2, 2])
        _ = try await app.service("another").rawFind()
        #expect(ledger.events.last?.callID != events[0].callID)
    }

    @Test("names the call it was made in")
    func nested() async throws {
        let app = app(levels: DiagnosticLevels(.info))
        await app.service("outer").use(hooks: Hooks(before: [{ _ = try await $0.app.service("inner").rawFind() }]))
        _ = try await app.service("outer").rawFind()
        let (inner, outer) = (ledger.events[0], ledger.events[1])
        #expect(inner.timeless == "find inner ok" && outer.timeless == "find outer ok")
        #expect(inner[.parent] == outer.callID.map { "\($0)" })
        #expect(outer[.parent] == nil)
        #expect(Diagnostics.current.callID == nil)
    }

    @Test("carries what hooks and services report to the same sinks")
    func current() async throws {
        let app = app(levels: DiagnosticLevels(.error, [.cache: .debug]))
        let asked = Atomic<Int>(0)
        await app.service("m").use(
            hooks: Hooks(before: [
                { _ in
                    Diagnostics.current.log(
                        .debug, .cache, "hit for Bearer s3cret", ["key": "k", "userToken": "s3cret"])
                    Diagnostics.current.log(.trace, .cache, "\(asked.add(1, ordering: .relaxed))")
                    Diagnostics.current.log(.warning, "mine", "\(asked.add(1, ordering: .relaxed))")
                }
            ]))
        _ = try await app.service("m").rawFind()
        #expect(ledger.messages == ["hit for Bearer <redacted>"])
        #expect(ledger.events[0].description == "hit for Bearer <redacted> key=k userToken=<redacted>")
        #expect(ledger.events[0].callID != nil)
        // What nobody wants is not even made.
        #expect(asked.load(ordering: .relaxed) == 0)
        app.diagnostics.log(.error, .authentication, "outside")
        #expect(ledger.events.last?.callID == nil && ledger.events.last?.message == "outside")
    }

    @Test("is brief unless told otherwise; verbose it has payloads and header fields, redacted and cut")
    func verbose() async throws {
        transport.stub(
            "m", with: .value(["accessToken": "s3cret", "text": .string(String(repeating: "ü", count: 50))]))
        let params = Params(query: ["a": 1], headers: ["Authorization": "Bearer s3cret", "X-Kind": "test"])
        _ = try await app(levels: DiagnosticLevels(.info)).service("m").create(["password": "s3cret"], params: params)
        #expect(ledger.events[0][.data] == nil && ledger.events[0][.result] == nil && ledger.events[0][.headers] == nil)
        _ = try await app(levels: DiagnosticLevels(.info), verbosity: .verbose(bodyLimit: 47)).service("m")
            .create(["password": "s3cret", "text": "Hi"], params: params)
        let event = ledger.events[1]
        #expect(event[.data] == #"{"password":"<redacted>","text":"Hi"}"#)
        // 47 bytes would end within a character.
        #expect(event[.result] == #"{"accessToken":"<redacted>","text":"üüüüü… (138 bytes)"#)
        #expect(event[.headers] == .json(["Authorization": "<redacted>", "X-Kind": "test"]))
        #expect(!ledger.text.contains("s3cret"))
    }

    @Test("never shows what was secret in ids, queries, messages")
    func secrets() async throws {
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
        transport.stub(
            "m",
            with: .error(
                FeathersError(.badRequest, "The token \(jwt) is bad; Bearer s3cret", data: ["password": "s3cret"])))
        let query = Query<JSONValue>([
            "password": "s3cret", "user.resetToken": "s3cret", "$or": [["client-secret": "s3cret"]],
            "note": .string(jwt),
        ])
        _ = try? await app(verbosity: .verbose()).service("m").get(ServiceID(jwt), query: query)
        #expect(ledger.events.count == 2)
        #expect(!ledger.text.contains("s3cret") && !ledger.text.contains("eyJ"))
        #expect(
            ledger.messages[1].hasPrefix(
                "get m/<redacted> failed: BadRequest 400: The token <redacted> is bad; Bearer <redacted>"))
    }

    @Test("is not made where every level is switched off")
    func off() async throws {
        let app = app(levels: DiagnosticLevels(nil, [.http: nil]))
        #expect(app.appHooks.isEmpty)
        _ = try await app.service("m").rawFind()
        #expect(ledger.events.isEmpty)
    }

    @Test("comes for every one of many calls at once, each with an id of its own")
    func concurrency() async throws {
        let app = app(levels: DiagnosticLevels(.info))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { _ = try await app.service("m").rawFind() } }
            try await group.waitForAll()
        }
        #expect(Set(ledger.events.compactMap(\.callID)).count == 500)
    }
}
