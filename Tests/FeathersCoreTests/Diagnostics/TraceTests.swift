import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCore

@Suite("Traces", .timeLimit(.minutes(10)))
struct TraceTests {
    private static let field = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test("are read from the header field of W3C Trace Context, and nothing else")
    func fields() {
        let context = TraceContext(traceparent: Self.field, tracestate: "a=1")
        #expect(context?.traceparent == Self.field && context?.isSampled == true && context?.state == "a=1")
        #expect(TraceContext(traceparent: Self.field.replacing("-01", with: "-00"))?.isSampled == false)
        // A later version may have more parts.
        #expect(TraceContext(traceparent: "cc" + Self.field.dropFirst(2) + "-what") != nil)
        let invalid = [
            nil, "", "00", Self.field.uppercased(), Self.field + "-", "ff" + Self.field.dropFirst(2),
            "00-" + String(repeating: "0", count: 32) + "-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", Self.field + "\r\nX: y",
        ]
        for field in invalid { #expect(TraceContext(traceparent: field) == nil, "\(field ?? "nil")") }
    }

    @Test("go to the server with each call, and to the reports of calls within calls")
    func propagation() async throws {
        let transport = StubTransport { _ in [] }
        let app = FeathersApp(transport: transport)
        let events = Locked<[DiagnosticEvent]>([])
        app.use(diagnostics: .closure { event in events.withLock { $0.append(event) } })
        try await app.use(PassingService(app: app), at: "outer")
        let caller = TraceContext(traceparent: Self.field, tracestate: "a=1")
        try await app.withTrace(caller) { _ = try await app.service("outer").find() }
        _ = try await app.service("inner").find()

        let (inner, outer) = events.withLock { ($0[0], $0[1]) }
        let sent = transport.requests.map(\.params.headers)
        #expect(sent[0]["traceparent"] == inner.trace?.traceparent && sent[0]["tracestate"] == "a=1")
        #expect(sent[1].isEmpty)
        #expect(Set([inner, outer].map { $0.trace?.traceID }) == [caller?.traceID])
        #expect(Set([caller?.spanID, inner.trace?.spanID, outer.trace?.spanID]).count == 3)
        #expect(events.withLock { $0.last }?.trace == nil)
    }

    @Test("are in the lines of a log, and a failure that a call passes on is reported once")
    func lines() async throws {
        let transport = StubTransport { _ in throw FeathersError(.notFound, "None") }
        let app = FeathersApp(transport: transport)
        let lines = Locked<[String]>([])
        app.use(diagnostics: .text { line in lines.withLock { $0.append(line) } }, levels: DiagnosticLevels(.warning))
        try await app.use(PassingService(app: app), at: "outer")
        await app.withTrace(TraceContext(traceparent: Self.field)) {
            _ = try? await app.service("outer").find()
        }
        let written = lines.withLock { $0 }
        #expect(written.count == 1)
        #expect(
            written[0].contains("find inner failed") && written[0].hasSuffix("trace=4bf92f3577b34da6a3ce929d0e0e4736"))
    }

    @Test("of an app are a file that viewers open: spans of calls in rows of services, with their steps")
    func recording() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        try Data().write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let file = try FileHandle(forWritingTo: url)
        let transport = StubRealTimeTransport()
        let busy = ServiceStub.error(FeathersError(.unavailable, "Busy", execution: .neverSent))
        transport.stub("messages", .find, with: .cycle([busy, .value([["token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln"]])]))
        let app = FeathersApp(transport: transport)
        app.use(hooks: .retrying(attempts: 2, pause: .zero))
        app.use(diagnostics: .trace(to: file), levels: DiagnosticLevels(.trace), verbosity: .verbose())
        let pushes = app.service("messages").events("created")
        try await withFeathersApp(app) { app in
            for await status in app.connectionStatusUpdates() { if case .connected = status { break } }
            _ = try await app.service("messages").find(.where("apiKey", "secret"))
            transport.emit("created", of: "messages", ["id": 1])
            for try await _ in pushes { break }
            transport.drop(.pingTimeout)
            for await health in app.healthUpdates() where health.state == .reconnecting { break }
        }
        try file.close()

        let text = try String(contentsOf: url, encoding: .utf8)
        #expect(text.hasPrefix("[\n") && !text.contains("secret") && !text.contains("eyJ"))
        // A viewer adds the end of the array.
        let lines = try JSONValue(parsing: Array((text.dropLast(2) + "]").utf8)).array ?? []
        func named(_ name: String) -> [JSONValue] { lines.filter { $0["name"]?.string == name } }
        let rows = named("thread_name").compactMap { $0["args"]?["name"]?.string }
        #expect(rows.contains("messages") && rows.contains("connection"))
        let call = try #require(named("find").first)
        #expect(call["ph"] == "X" && call["dur"] != nil && call["args"]?["attempt"] == 2)
        let retry = lines.first { $0["name"]?.string?.contains("will be retried") == true }
        #expect(retry?["tid"] == call["tid"] && retry?["ph"] == "i")
        #expect(named("messages created").count == 1 && named("connected").contains { $0["ph"] == "X" })
    }
}

/// A local service that passes calls on to a service on a server.
private actor PassingService: ServiceProtocol {
    private let app: FeathersApp

    init(app: FeathersApp) { self.app = app }

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try await app.service("inner").respond(to: ServiceRequest(path: "inner", method: .find))
    }
}
