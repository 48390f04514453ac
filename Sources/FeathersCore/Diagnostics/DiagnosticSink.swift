/// Where diagnostic events go: a log, a screen, a tracer.
public protocol DiagnosticSink: Sendable {
    /// Takes one event. It is called wherever the event happens, by any number of threads at once, and should return soon.
    func receive(_ event: DiagnosticEvent)
}

/// A sink that hands every event to a function.
public struct ClosureDiagnosticSink: DiagnosticSink {
    private let body: @Sendable (DiagnosticEvent) -> Void

    /// A sink that hands every event to `body`, on the thread where it happened.
    public init(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) {
        self.body = body
    }

    public func receive(_ event: DiagnosticEvent) { body(event) }
}

/// How much of a call or exchange is told.
public enum DiagnosticVerbosity: Sendable, Hashable {
    /// Neither payloads nor header fields.
    case brief
    /// Payloads, results and header fields too, redacted, each payload cut after so many bytes.
    case verbose(bodyLimit: Int = 1024)
}

extension DiagnosticSink where Self == ClosureDiagnosticSink {
    /// A function that takes every event.
    public static func closure(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) -> ClosureDiagnosticSink {
        ClosureDiagnosticSink(body)
    }
}
