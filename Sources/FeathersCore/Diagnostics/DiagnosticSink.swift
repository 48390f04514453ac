import FeathersSupport
public import Foundation

/// A destination of diagnostic events, such as a log or a tracer.
public protocol DiagnosticSink: Sendable {
    /// Receives an event. It is called where the event happens, by several threads at once, and should return quickly.
    func receive(_ event: DiagnosticEvent)
}

/// How much of a call or an HTTP exchange is reported.
public enum DiagnosticVerbosity: Sendable, Hashable {
    /// No payloads and no header fields.
    case brief
    /// Also payloads, results and header fields, redacted, with each payload truncated to a number of bytes.
    case verbose(bodyLimit: Int = 1024)
}

/// A sink that passes every event to a closure: what `.closure`, `.text`, `.standardError` and their kin are.
public struct ClosureDiagnosticSink: DiagnosticSink {
    // Made once: the lines of all that share a file must not mix.
    fileprivate static let output: Self = .text(to: .standardOutput)
    fileprivate static let errors: Self = .text(to: .standardError)

    private let body: @Sendable (DiagnosticEvent) -> Void

    package init(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) { self.body = body }

    public func receive(_ event: DiagnosticEvent) { body(event) }
}

extension DiagnosticSink where Self == ClosureDiagnosticSink {
    /// A closure that receives every event, on the thread where it happens.
    public static func closure(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) -> ClosureDiagnosticSink {
        ClosureDiagnosticSink(body)
    }

    /// A closure that receives one line of text for every event, without a line break; several threads may call it at once.
    ///
    ///     2026-01-02T03:04:05.678Z warning calls get messages/2 failed: NotFound 404: No record found for id '2' (3 ms) call=17
    ///
    /// No value can begin a new line.
    public static func text(_ write: @escaping @Sendable (String) -> Void) -> ClosureDiagnosticSink {
        ClosureDiagnosticSink { write($0.line) }
    }

    /// Lines of text in a file, a pipe or a terminal. Lines of several threads do not mix; one that cannot be written is dropped.
    public static func text(to file: FileHandle) -> ClosureDiagnosticSink {
        // Locked while it writes, since concurrent writes could mix.
        let file = Locked(file)
        return .text { line in file.withLock { try? $0.write(contentsOf: Data("\(line)\n".utf8)) } }
    }

    /// Lines of text on standard output.
    public static var standardOutput: ClosureDiagnosticSink { .output }
    /// Lines of text on standard error.
    public static var standardError: ClosureDiagnosticSink { .errors }
}

extension DiagnosticEvent {
    fileprivate var line: String {
        let time = ISO8601Timestamp(milliseconds: time.timeIntervalSince1970 * 1000).text() ?? "-"
        return "\(time) \(level) \(domain) \(self)\(callText)"
    }

    fileprivate var callText: String { callID.map { " call=\($0)" } ?? "" }
}

#if canImport(OSLog)
    import os

    extension DiagnosticSink where Self == ClosureDiagnosticSink {
        /// The system log, with a category for each domain. Everything is logged as public: secrets are already redacted.
        /// - Parameter subsystem: by convention the app's bundle identifier.
        public static func osLog(subsystem: String) -> ClosureDiagnosticSink {
            ClosureDiagnosticSink { event in
                let logger = Logger(subsystem: subsystem, category: event.domain.rawValue)
                logger.log(level: event.level.osLogType, "\(event.description, privacy: .public)\(event.callText, privacy: .public)")
            }
        }
    }

    extension DiagnosticLevel {
        /// The system log has no warnings, so these are errors.
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
