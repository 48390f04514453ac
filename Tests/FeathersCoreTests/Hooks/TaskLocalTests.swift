import FeathersCore
import FeathersTesting
import Synchronization
import TestBackend
import Testing

@Suite("Task-local values set in an around hook")
struct TaskLocalTests {
    enum Trace {
        @TaskLocal static var parent: String?
    }

    private actor Watching: ServiceProtocol {
        let seen: @Sendable (String) -> Void

        init(seen: @escaping @Sendable (String) -> Void) { self.seen = seen }

        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            seen("method \(Trace.parent ?? "-")")
            return .null
        }
    }

    private static let around: AroundHook = { context, next in
        try await Trace.$parent.withValue("trace-1") { try await next(&context) }
    }

    @Test("are seen by every hook inside, by the service, and by nobody outside", arguments: [false, true])
    func seen(hasDeadline: Bool) async throws {
        let lines = Mutex<[String]>([])
        let see: @Sendable (String) -> Void = { line in lines.withLock { $0.append(line) } }
        let app = FeathersApp()
        let service = try await app.use(Watching(seen: see), at: "m")
        app.use(hooks: Hooks(around: [Self.around], before: [{ _ in see("app before \(Trace.parent ?? "-")") }]))
        app.use(hooks: Hooks(after: [{ _ in see("app after \(Trace.parent ?? "-")") }]))
        await service.use(
            hooks: Hooks(
                around: [
                    { context, next in
                        see("around \(Trace.parent ?? "-")")
                        try await next(&context)
                    }
                ],
                before: [{ _ in see("before \(Trace.parent ?? "-")") }],
                after: [{ _ in see("after \(Trace.parent ?? "-")") }]))
        // A deadline runs the call in a child task, which inherits them.
        if hasDeadline { await service.use(hooks: .timeout(.seconds(60))) }
        _ = try await service.get(1)
        #expect(
            lines.withLock { $0 } == [
                "app before trace-1", "around trace-1", "before trace-1", "method trace-1", "after trace-1",
                "app after trace-1",
            ])
        #expect(Trace.parent == nil)
    }

    @Test("reach the transport, and do not mix between calls at once")
    func transport() async throws {
        let transport = StubTransport { _ in .string(Trace.parent ?? "-") }
        let app = FeathersApp(transport: transport)
        app.use(
            hooks: Hooks(around: [
                { context, next in
                    let id = context.id.map { "\($0)" } ?? "-"
                    try await Trace.$parent.withValue(id) { try await next(&context) }
                }
            ]))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in 0..<200 {
                group.addTask { try await app.service("m").get(ServiceID(id)) == .string("\(id)") }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("make a trace context travel with the call")
    func traceContext() async throws {
        let transport = StubTransport { _ in .null }
        let app = FeathersApp(transport: transport)
        app.use(
            hooks: Hooks(
                around: [Self.around],
                before: [{ context in if let parent = Trace.parent { context.params.headers["traceparent"] = parent } }]
            ))
        _ = try await app.service("m").rawFind()
        #expect(transport.requests[0].params.headers == ["traceparent": "trace-1"])
    }
}
