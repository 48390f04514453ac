import Feathers
import Foundation

// The samples of the article about diagnostics, each one as it stands there. What comes from packages this one does not
// depend on is stood in for by the types at the end.

nonisolated final class Alarms: Sendable {
    func add(_ message: String, code: DiagnosticAttributes.Value?) {}
}

func sinks(_ app: FeathersApp, _ alarms: Alarms) {
    app.use(diagnostics: .standardError)
    app.use(
        diagnostics: .text { line in print(line) },
        levels: DiagnosticLevels(.warning, [.connection: .debug, .cache: nil]))
    app.use(
        diagnostics: .closure { event in
            if event.level == .error { alarms.add(event.message, code: event[.code]) }
        })
}

private func socketIO(_ url: URL) -> SocketIOTransport {
    let sink: any DiagnosticSink = .standardError
    let transport = SocketIOTransport.socketIO(url) { options in
        options.onDiagnostic = { sink.receive(DiagnosticEvent($0)) }
    }
    return transport
}

private func http(_ url: URL) {
    let app = FeathersApp(transport: .rest(url, httpClient: ReportingHTTPClient()))
    app.use(
        diagnostics: .standardError, levels: DiagnosticLevels(.info, [.http: .debug]),
        verbosity: .verbose(bodyLimit: 500))
}

private func reporting(_ app: FeathersApp, _ key: Int, _ elapsed: Duration) {
    Diagnostics.current.log(.debug, .cache, "miss", ["key": "\(key)"])
    app.diagnostics.log(.notice, "billing", "renewed", [.duration: .duration(elapsed)])
}

private func traced(_ app: FeathersApp, _ request: IncomingRequest) async throws {
    let caller = TraceContext(traceparent: request.headers["traceparent"])
    let rooms = try await app.withTrace(caller) { try await app.service("rooms").find() }
    _ = rooms
}

private func recording(_ app: FeathersApp, _ file: FileHandle) {
    app.use(diagnostics: .trace(to: file), levels: DiagnosticLevels(.trace))
}

struct LoggerSink: DiagnosticSink {
    let logger: Logger

    func receive(_ event: DiagnosticEvent) {
        var metadata = Logger.Metadata(
            uniqueKeysWithValues: event.attributes.map {
                ("\($0.name)", .string("\($0.value)"))
            })
        if let call = event.callID { metadata["call"] = .string("\(call)") }
        if let trace = event.trace { metadata["trace_id"] = .string(trace.traceID) }
        logger.log(
            level: event.level.logLevel, "\(event.message)", metadata: metadata,
            source: event.domain.rawValue)
    }
}

nonisolated extension DiagnosticLevel {
    var logLevel: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}

struct MetricsSink: DiagnosticSink {
    func receive(_ event: DiagnosticEvent) {
        guard event.domain == .calls, event[.outcome] != nil,
            let duration = event.duration
        else { return }
        let method = "\(event[.path] ?? "")/\(event[.method] ?? "")"
        var dimensions = [("rpc.method", method)]
        if let error = event[.error] { dimensions.append(("error.type", "\(error)")) }
        Timer(label: "rpc.client.call.duration", dimensions: dimensions)
            .record(duration: duration)
    }
}

let tracing: AroundHook = { context, next in
    try await withSpan("feathers.\(context.method)", ofKind: .client) { span in
        span.attributes["rpc.system"] = "feathers"
        span.attributes["rpc.service"] = context.path
        span.attributes["rpc.method"] = context.method.rawValue
        InstrumentationSystem.instrument.inject(
            span.context, into: &context.params.headers, using: HeaderInjector())
        do {
            try await next(&context)
        } catch let error as FeathersError {
            span.attributes["feathers.error.code"] = error.code.rawValue
            throw error
        }
    }
}

nonisolated struct HeaderInjector: Injector {
    func inject(
        _ value: String, forKey key: String, into headers: inout [String: String]
    ) {
        headers[key] = value
    }
}
