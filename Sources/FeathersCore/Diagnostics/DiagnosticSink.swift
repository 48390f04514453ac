import FeathersSupport
public import Foundation

/// A destination of diagnostic events, such as a log or a tracer.
public protocol DiagnosticSink: Sendable {
    /// Receives an event. It is called where the event happens, by several threads at once, and should return quickly.
    func receive(_ event: DiagnosticEvent)
}

/// A sink that passes every event to a closure.
public struct ClosureDiagnosticSink: DiagnosticSink {
    private let body: @Sendable (DiagnosticEvent) -> Void

    /// Creates a sink that passes every event to `body`, on the thread where the event happens.
    public init(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) { self.body = body }

    public func receive(_ event: DiagnosticEvent) { body(event) }
}

/// How much of a call or an HTTP exchange is reported.
public enum DiagnosticVerbosity: Sendable, Hashable {
    /// No payloads and no header fields.
    case brief
    /// Also payloads, results and header fields, redacted, with each payload truncated to a number of bytes.
    case verbose(bodyLimit: Int = 1024)
}

extension DiagnosticSink where Self == ClosureDiagnosticSink {
    /// A closure that receives every event.
    public static func closure(_ body: @escaping @Sendable (DiagnosticEvent) -> Void) -> ClosureDiagnosticSink {
        ClosureDiagnosticSink(body)
    }
}

/// A sink that writes one line of text for every event.
///
///     2026-01-02T03:04:05.678Z warning calls get messages/2 failed: NotFound 404: No record found for id '2' (3 ms) call=17
///
/// Lines of several threads do not mix, and no value can begin a new line.
public struct TextDiagnosticSink: DiagnosticSink {
    private let write: @Sendable (String) -> Void

    /// Passes each line, without a line break, to a closure, which several threads may call at once.
    public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Writes the lines to a file, a pipe or a terminal. A line that cannot be written is dropped.
    public init(_ file: FileHandle) {
        // Locked while it writes, since concurrent writes could mix.
        let file = Locked(file)
        write = { line in file.withLock { try? $0.write(contentsOf: Data("\(line)\n".utf8)) } }
    }

    /// Writes to standard output.
    public static let standardOutput = TextDiagnosticSink(.standardOutput)
    /// Writes to standard error.
    public static let standardError = TextDiagnosticSink(.standardError)

    public func receive(_ event: DiagnosticEvent) { write(Self.line(event)) }

    private static func line(_ event: DiagnosticEvent) -> String {
        let time = ISO8601Timestamp(milliseconds: event.time.timeIntervalSince1970 * 1000).text() ?? "-"
        let call = event.callID.map { " call=\($0)" } ?? ""
        return "\(time) \(event.level) \(event.domain) \(event)\(call)"
    }
}

extension DiagnosticSink where Self == TextDiagnosticSink {
    /// Lines of text on standard output.
    public static var standardOutput: TextDiagnosticSink { .standardOutput }
    /// Lines of text on standard error.
    public static var standardError: TextDiagnosticSink { .standardError }
    /// Lines of text for a closure, without line breaks.
    public static func text(_ write: @escaping @Sendable (String) -> Void) -> TextDiagnosticSink { TextDiagnosticSink(write) }
}

#if canImport(OSLog)
    import os

    /// A sink that writes to the system log, with a category for each domain.
    ///
    /// Everything is logged as public. Secrets are already redacted.
    public struct OSLogDiagnosticSink: DiagnosticSink {
        private let subsystem: String

        /// Creates a sink; `.osLog(subsystem:)` is a shorthand.
        /// - Parameter subsystem: by convention the app's bundle identifier.
        public init(subsystem: String) { self.subsystem = subsystem }

        public func receive(_ event: DiagnosticEvent) {
            let logger = Logger(subsystem: subsystem, category: event.domain.rawValue)
            let call = event.callID.map { " call=\($0)" } ?? ""
            logger.log(level: event.level.osLogType, "\(event.description, privacy: .public)\(call, privacy: .public)")
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

    extension DiagnosticSink where Self == OSLogDiagnosticSink {
        /// The system log.
        /// - Parameter subsystem: by convention the app's bundle identifier.
        public static func osLog(subsystem: String) -> OSLogDiagnosticSink { OSLogDiagnosticSink(subsystem: subsystem) }
    }
#endif
