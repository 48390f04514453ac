import FeathersCore
import FeathersTesting
import Testing

@Suite("The report of a connection", .timeLimit(.minutes(10)))
struct ConnectionDiagnosticsTests {
    /// A sink that can be waited for.
    private struct Feed: DiagnosticSink {
        let continuation: AsyncStream<DiagnosticEvent>.Continuation
        func receive(_ event: DiagnosticEvent) { continuation.yield(event) }
    }

    private func next(_ count: Int, of events: inout AsyncStream<DiagnosticEvent>.AsyncIterator) async
        -> [DiagnosticEvent]
    {
        var heard: [DiagnosticEvent] = []
        while heard.count < count, let event = await events.next(isolation: #isolation) { heard.append(event) }
        return heard
    }

    @Test("comes for every change, with its level, and why it is closed")
    func changes() async throws {
        let transport = StubRealTimeTransport()
        let app = FeathersApp(transport: transport)
        let (stream, continuation) = AsyncStream.makeStream(of: DiagnosticEvent.self)
        app.use(diagnostics: Feed(continuation: continuation), levels: DiagnosticLevels(.trace))
        var events = stream.makeAsyncIterator()
        let running = Task { try await app.run() }
        // The first attempt may be older than whoever reports it.
        while let event = await events.next(isolation: #isolation), event.message != "connected" {}
        var heard: [DiagnosticEvent] = []
        transport.drop(.pingTimeout)
        heard += await next(1, of: &events)
        transport.restore(recovered: true)
        heard += await next(2, of: &events)
        transport.refuse(with: FeathersError(.notAuthenticated, "Bearer s3cret is no more"))
        transport.drop(.refused("Bearer s3cret is no more"))
        heard += await next(1, of: &events)
        #expect(
            heard.map { "\($0.level) \($0.message)" } == [
                "notice not connected (ping timeout), next attempt in 0 ms",
                "debug connecting, attempt 2",
                "info connected, missed events recovered",
                "error closed permanently: connect_error: Bearer <redacted> is no more",
            ])
        #expect(heard.allSatisfy { $0.domain == .connection && $0.callID == nil })
        #expect(heard.map { $0[.attempt] } == [1, 2, nil, nil])
        #expect(heard.last?[.reason] == "connect_error")
        await #expect(throws: FeathersError.self) { try await running.value }
    }

    @Test("comes once for every sink, and where nothing but connect keeps the connection, on demand")
    func onDemand() async throws {
        let transport = StubRealTimeTransport()
        let app = FeathersApp(transport: transport)
        let (stream, continuation) = AsyncStream.makeStream(of: DiagnosticEvent.self)
        let ledger = Ledger()
        app.use(diagnostics: ledger)
        app.use(diagnostics: Feed(continuation: continuation))
        var events = stream.makeAsyncIterator()
        let reporting = Task { await app.reportConnectionChanges() }
        try await app.connect()
        #expect(await next(1, of: &events).map(\.message) == ["connected"])
        await app.disconnect()
        #expect(await next(1, of: &events).map(\.message) == ["offline"])
        #expect(ledger.messages == ["connected", "offline"])
        reporting.cancel()
        await reporting.value
    }

    @Test("ends at once where there is no connection to report")
    func none() async {
        await FeathersApp(transport: StubTransport()).reportConnectionChanges()
    }
}
