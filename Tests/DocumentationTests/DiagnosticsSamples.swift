import Feathers
import Foundation

// The samples of the article about diagnostics, each one as it stands there: `ReadmeTests` compares them.

/// A request that a server has received.
private nonisolated struct IncomingRequest {
    let headers: [String: String]
}

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
