import Feathers
import FeathersTesting
import Synchronization
import Testing

@Suite("The adaptors in the article about diagnostics")
struct DiagnosticsArticleTests {
    @Test("hand events on as they say")
    func adaptors() async throws {
        let transport = StubTransport()
        transport.stub("messages", .get, with: .error(FeathersError(.notFound, "None")))
        transport.stub("messages", .find, with: .value([]))
        let app = FeathersApp(transport: transport)
        let logged = Mutex<[String]>([])
        let logger = Logger { level, message, metadata, source in
            let path = if case .string(let path)? = metadata["path"] { path } else { "-" }
            logged.withLock { $0.append("\(level) \(message.split(separator: " (")[0]) \(path) \(source)") }
        }
        app.use(diagnostics: LoggerSink(logger: logger))
        app.use(diagnostics: MetricsSink(), levels: DiagnosticLevels(nil, [.calls: .info]))
        app.use(hooks: Hooks(around: [tracing]))
        _ = try await app.service("messages").find()
        _ = try? await app.service("messages").get(1)
        #expect(
            logged.withLock { $0 } == [
                "info find messages ok messages calls",
                "warning get messages/1 failed: NotFound 404: None messages calls",
            ])
        #expect(
            Timer.recorded.withLock { $0 } == [
                "rpc.client.call.duration rpc.method=messages/find",
                "rpc.client.call.duration rpc.method=messages/get error.type=NotFound",
            ])
        #expect(
            transport.requests.map { $0.params.headers } == [
                ["traceparent": "00-span-of-feathers.find"], ["traceparent": "00-span-of-feathers.get"],
            ])
    }

    @Test("and the samples about testing do what they say")
    func testing() async throws {
        let transport = StubTransport()
        #expect(try await testOfTime(FeathersApp(transport: transport), transport).isEmpty)
        try await connections()
        #expect(madeOfStubs().count == 3)
    }
}
