import FeathersSupport
public import Foundation

/// A sink that writes one line of text for every event.
///
///     2026-01-02T03:04:05.678Z warning calls get messages/2 failed: NotFound 404: No record found for id '2' (3 ms) call=17
///
/// Lines are whole, whatever number of threads write, and no value can begin a line of its own.
public struct TextDiagnosticSink: DiagnosticSink {
    private let write: @Sendable (String) -> Void

    /// Hands each line, without its end, to a function, which may be called by several threads at once.
    public init(_ write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Writes the lines to a file, a pipe or a terminal; a line that cannot be written is dropped.
    public init(_ file: FileHandle) {
        // Locked while it writes: two writes of one line each might otherwise mix.
        let file = Locked(file)
        write = { line in file.withLock { try? $0.write(contentsOf: Data("\(line)\n".utf8)) } }
    }

    /// Writes to standard output.
    public static let standardOutput = TextDiagnosticSink(.standardOutput)
    /// Writes to standard error.
    public static let standardError = TextDiagnosticSink(.standardError)

    public func receive(_ event: DiagnosticEvent) {
        write(Self.line(event))
    }

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
    /// Lines of text for a function, without their ends.
    public static func text(_ write: @escaping @Sendable (String) -> Void) -> TextDiagnosticSink { TextDiagnosticSink(write) }
}
