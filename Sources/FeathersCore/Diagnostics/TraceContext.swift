/// A position in a distributed trace, as the header fields `traceparent` and `tracestate` carry it (W3C Trace Context).
///
/// ```swift
/// let caller = TraceContext(traceparent: request.headers["traceparent"])
/// try await app.withTrace(caller) { try await messages.find() }
/// ```
public struct TraceContext: Sendable, Hashable {
    /// The id of the trace: 32 lowercase hexadecimal digits.
    public let traceID: String
    /// The id of the span: 16 lowercase hexadecimal digits.
    public let spanID: String
    /// Whether the caller records the trace.
    public let isSampled: Bool
    /// The `tracestate` of the caller's tracing system, which is passed on as it is.
    public let state: String?

    @TaskLocal package static var ofTask: TraceContext?

    /// The trace of the current task, in ``FeathersApp/withTrace(_:_:)`` and in the hooks of its calls; nil elsewhere.
    public static var current: TraceContext? { ofTask }

    private init(traceID: String, isSampled: Bool, state: String?) {
        (self.traceID, self.isSampled, self.state) = (traceID, isSampled, state)
        spanID = Self.randomDigits(1)
    }

    /// Creates the context of a new trace.
    public init() { self.init(traceID: Self.randomDigits(2), isSampled: true, state: nil) }

    /// Reads the header fields of a request; nil if there is no `traceparent`, or if it is invalid.
    /// - Parameters:
    ///   - traceparent: The value of `traceparent`, such as
    ///     `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
    ///   - tracestate: The value of `tracestate`.
    public init?(traceparent: String?, tracestate: String? = nil) {
        let parts = traceparent?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        // Later versions may have more parts.
        guard parts.count >= 4, parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            zip(parts, [2, 32, 16, 2]).allSatisfy({ Self.isHexadecimal($0, count: $1) }),
            let flags = UInt8(parts[3], radix: 16), parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        (traceID, spanID, isSampled, state) = (String(parts[1]), String(parts[2]), flags & 1 == 1, tracestate)
    }

    /// The value of the header field `traceparent`.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// Returns the context of a span within this one.
    func child() -> TraceContext { TraceContext(traceID: traceID, isSampled: isSampled, state: state) }

    private static func isHexadecimal(_ text: Substring, count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func randomDigits(_ words: Int) -> String {
        (0..<words).map { _ in
            let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}

extension FeathersApp {
    /// Runs `body`, whose calls are spans of a trace.
    ///
    /// Each call sends its span to the server as `traceparent`, over HTTP. If the app has diagnostics, their events
    /// have the span (``DiagnosticEvent/trace``), and calls within a call are its children.
    /// - Parameters:
    ///   - context: The span of the caller; nil to begin a trace.
    ///   - body: The code whose calls belong to the trace.
    /// - Throws: The errors of `body`.
    public func withTrace<Result>(
        _ context: TraceContext?, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await TraceContext.$ofTask.withValue(context ?? TraceContext()) { try await body() }
    }
}

extension Params {
    /// Adds the header fields of a span, unless the caller has set them.
    mutating func add(_ span: TraceContext) {
        if names("traceparent") { return }
        headers["traceparent"] = span.traceparent
        if let state = span.state { headers["tracestate"] = state }
    }
}
