public import Foundation

/// An event such as the end of a call, a change of the connection, or a plugin's report.
///
/// Secrets are redacted by ``Redaction``, except in ``error``, which is meant for code and never printed.
public struct DiagnosticEvent: Sendable {
    /// The time at which the event occurred.
    public let time: Date
    /// The severity.
    public let level: DiagnosticLevel
    /// The area of the event.
    public let domain: DiagnosticDomain
    /// The human-readable message.
    public let message: String
    /// The machine-readable attributes.
    public let attributes: DiagnosticAttributes
    /// The id of the call during which the event occurred. All attempts of a call have the same id.
    public let callID: UInt64?
    /// The span of that call; nil outside of ``FeathersApp/withTrace(_:_:)``.
    public internal(set) var trace: TraceContext?
    /// The thrown error. It may contain payloads, so do not print it.
    public let error: (any Error)?
    /// The number of attributes that the message already contains.
    var toldCount = 0

    /// Creates an event.
    public init(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, _ message: String,
        _ attributes: DiagnosticAttributes = [:],
        callID: UInt64? = nil, error: (any Error)? = nil, time: Date = Date()
    ) {
        self.time = time
        self.level = level
        self.domain = domain
        self.message = message
        self.attributes = attributes
        self.callID = callID
        self.error = error
    }

    /// Returns the value of an attribute; nil if there is none.
    public subscript(name: DiagnosticAttributes.Name) -> DiagnosticAttributes.Value? { attributes[name] }

    /// The duration, if known.
    public var duration: Duration? {
        if case .duration(let duration)? = self[.duration] { duration } else { nil }
    }
}

extension DiagnosticEvent: CustomStringConvertible {
    /// The message and the attributes that it does not contain, on one line.
    public var description: String {
        var text = message.onOneLine
        for (name, value) in attributes.dropFirst(toldCount) { text += " \(name)=\(value.description.onOneLine)" }
        return text
    }
}

extension String {
    fileprivate var onOneLine: String {
        // Most texts are printable ASCII.
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return self }
        return unicodeScalars.map { scalar in
            let endsLine = scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
            return endsLine ? scalar.escaped(asASCII: true) : String(scalar)
        }.joined()
    }
}

/// The severity of a diagnostic event.
public enum DiagnosticLevel: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    /// Every step, such as the start of a call.
    case trace
    /// Details for debugging: HTTP exchanges, attempts to connect.
    case debug
    /// Normal operation: calls that succeed or are cancelled, an open connection.
    case info
    /// Problems that are handled automatically, such as a retried call or a lost connection.
    case notice
    /// Calls that a server rejected. Handling them is up to the caller.
    case warning
    /// Failures other than rejections by a server.
    case error

    public static func < (left: DiagnosticLevel, right: DiagnosticLevel) -> Bool { left.rawValue < right.rawValue }

    public var description: String { ["trace", "debug", "info", "notice", "warning", "error"][rawValue] }
}

/// The area of a diagnostic event. Plugins define their own.
public struct DiagnosticDomain: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.rawValue = value }

    /// Service calls.
    public static let calls = DiagnosticDomain(rawValue: "calls")
    /// The connection of a real-time transport.
    public static let connection = DiagnosticDomain(rawValue: "connection")
    /// Service events.
    public static let events = DiagnosticDomain(rawValue: "events")
    /// Caching.
    public static let cache = DiagnosticDomain(rawValue: "cache")
    /// Sign-in, log-out and tokens.
    public static let authentication = DiagnosticDomain(rawValue: "authentication")
    /// HTTP exchanges.
    public static let http = DiagnosticDomain(rawValue: "http")

    public var description: String { rawValue }
}

/// The minimum levels that a sink receives: one for all domains, with overrides for individual domains.
///
/// ```swift
/// DiagnosticLevels(.info)
/// DiagnosticLevels(.warning, [.http: .debug, .cache: nil])
/// ```
public struct DiagnosticLevels: Sendable, Hashable {
    private let level: DiagnosticLevel?
    private let domains: [DiagnosticDomain: DiagnosticLevel?]

    /// Creates levels: one for all domains and overrides for individual domains. Nil disables events.
    public init(_ level: DiagnosticLevel?, _ domains: [DiagnosticDomain: DiagnosticLevel?] = [:]) {
        self.level = level
        self.domains = domains
    }

    /// Returns whether events of this level and domain are enabled.
    package func allow(_ level: DiagnosticLevel, _ domain: DiagnosticDomain) -> Bool {
        let lowest = domains.isEmpty ? self.level : domains[domain] ?? self.level
        return lowest.map { level >= $0 } ?? false
    }

    var isSilent: Bool { level == nil && domains.values.allSatisfy { $0 == nil } }
}
