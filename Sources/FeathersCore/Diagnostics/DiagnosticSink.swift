import FeathersSupport
public import Foundation

/// A destination of diagnostic events, such as a log or a tracer.
public protocol DiagnosticSink: Sendable {
    /// Receives an event. May be called from several threads at once, synchronously with the event, so it should return
    /// quickly.
    func receive(_ event: DiagnosticEvent)
}

/// The amount of detail in reports of calls and HTTP exchanges.
public enum DiagnosticVerbosity: Sendable, Hashable {
    /// No payloads and no header fields.
    case brief
    /// Also redacted payloads, results and header fields. Each payload is truncated to a number of bytes.
    case verbose(bodyLimit: Int = 1024)
}

/// A sink that passes every event to a closure, such as `.closure`, `.text` and `.standardError`.
public struct ClosureDiagnosticSink: DiagnosticSink {
    // Shared, so that lines written to the same file do not mix.
    fileprivate static let output: Self = .text(to: .standardOutput)
    fileprivate static let errors: Self = .text(to: .standardError)

    private let body: @Sendable (DiagnosticEvent) -> Void

    package init(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) { self.body = body }

    public func receive(_ event: DiagnosticEvent) { body(event) }
}

extension DiagnosticSink where Self == ClosureDiagnosticSink {
    /// Returns a sink that passes every event to a closure, on the thread of the event.
    public static func closure(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) -> ClosureDiagnosticSink {
        ClosureDiagnosticSink(body)
    }

    /// Returns a sink that passes every event as one line of text, without a line break. The closure may be called from
    /// several threads at once.
    ///
    ///     2026-01-02T03:04:05.678Z warning calls get messages/2 failed: NotFound 404: No record found (3 ms) call=17
    ///
    /// Values cannot contain line breaks.
    public static func text(_ write: @escaping @Sendable (String) -> Void) -> ClosureDiagnosticSink {
        ClosureDiagnosticSink { write($0.textLine) }
    }

    /// Returns a sink that writes lines of text to a file, a pipe or a terminal. Lines do not mix, and lines that
    /// cannot be written are dropped.
    public static func text(to file: FileHandle) -> ClosureDiagnosticSink {
        // Locked while writing, because concurrent writes could mix.
        let file = Locked(file)
        return .text { line in file.withLock { try? $0.write(contentsOf: Data("\(line)\n".utf8)) } }
    }

    /// A sink that writes lines of text to standard output.
    public static var standardOutput: ClosureDiagnosticSink { .output }
    /// A sink that writes lines of text to standard error.
    public static var standardError: ClosureDiagnosticSink { .errors }
}

extension DiagnosticEvent {
    fileprivate var textLine: String {
        let time = ISO8601Timestamp(milliseconds: time.timeIntervalSince1970 * 1000).text() ?? "-"
        return "\(time) \(level) \(domain) \(self)\(callText)"
    }

    fileprivate var callText: String {
        (callID.map { " call=\($0)" } ?? "") + (trace.map { " trace=\($0.traceID)" } ?? "")
    }
}

#if canImport(OSLog)
    import os

    extension DiagnosticSink where Self == ClosureDiagnosticSink {
        /// Returns a sink for the system log, with a category for each domain. Everything is logged as public, because
        /// secrets are already redacted.
        /// - Parameter subsystem: The subsystem of the log, by convention the app's bundle identifier.
        public static func osLog(subsystem: String) -> ClosureDiagnosticSink {
            ClosureDiagnosticSink { event in
                let logger = Logger(subsystem: subsystem, category: event.domain.rawValue)
                logger.log(
                    level: event.level.osLogType,
                    "\(event.description, privacy: .public)\(event.callText, privacy: .public)")
            }
        }
    }

    extension DiagnosticLevel {
        /// The system log has no warning level, so warnings become errors.
        fileprivate var osLogType: OSLogType {
            switch self {
            case .trace, .debug: .debug
            case .info: .info
            case .notice: .default
            case .warning, .error: .error
            }
        }
    }
#endif
