public import Foundation

/// An event such as the end of a call, a change of the connection, or anything a plugin reports.
///
/// Secrets are redacted by ``Redaction``, except in ``error``, which is for programs and never printed.
public struct DiagnosticEvent: Sendable {
    /// The time of the event.
    public let time: Date
    /// The severity.
    public let level: DiagnosticLevel
    /// The area of the event.
    public let domain: DiagnosticDomain
    /// The message, for people.
    public let message: String
    /// The attributes, for programs.
    public let attributes: DiagnosticAttributes
    /// The id of the call during which the event happened, the same for all of its attempts.
    public let callID: UInt64?
    /// The error that was thrown. It may contain payloads: do not print it.
    public let error: (any Error)?
    /// How many attributes the message already contains.
    var toldCount = 0

    /// Creates an event.
    public init(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, _ message: String, _ attributes: DiagnosticAttributes = [:],
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

    /// The value of an attribute; nil if there is none.
    public subscript(name: DiagnosticAttributes.Name) -> DiagnosticAttributes.Value? { attributes[name] }

    /// The duration, if known.
    public var duration: Duration? {
        if case .duration(let duration)? = self[.duration] { duration } else { nil }
    }
}

extension DiagnosticEvent: CustomStringConvertible {
    /// The message and the attributes it does not contain, on one line.
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
    /// Problems that are handled automatically: a call that is retried, a lost connection.
    case notice
    /// Calls that a server refused, for the caller to handle.
    case warning
    /// Failures.
    case error

    public static func < (left: DiagnosticLevel, right: DiagnosticLevel) -> Bool { left.rawValue < right.rawValue }

    public var description: String { ["trace", "debug", "info", "notice", "warning", "error"][rawValue] }
}

/// The area of a diagnostic event. Plugins define their own.
public struct DiagnosticDomain: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { self.rawValue = value }

    /// Calls of services.
    public static let calls = DiagnosticDomain(rawValue: "calls")
    /// The connection of a real-time transport.
    public static let connection = DiagnosticDomain(rawValue: "connection")
    /// Events of services.
    public static let events = DiagnosticDomain(rawValue: "events")
    /// Caches.
    public static let cache = DiagnosticDomain(rawValue: "cache")
    /// Login, logout and tokens.
    public static let authentication = DiagnosticDomain(rawValue: "authentication")
    /// HTTP exchanges.
    public static let http = DiagnosticDomain(rawValue: "http")

    public var description: String { rawValue }
}

/// The lowest levels that a sink wants: one for all domains, and others for single domains.
///
/// ```swift
/// DiagnosticLevels(.info)
/// DiagnosticLevels(.warning, [.http: .debug, .cache: nil])
/// ```
public struct DiagnosticLevels: Sendable, Hashable {
    private let level: DiagnosticLevel?
    private let domains: [DiagnosticDomain: DiagnosticLevel?]

    /// Creates levels: one for all domains, except those with a level of their own. Nil is for no events.
    public init(_ level: DiagnosticLevel?, _ domains: [DiagnosticDomain: DiagnosticLevel?] = [:]) {
        self.level = level
        self.domains = domains
    }

    /// Whether events of this level and domain are wanted.
    package func allow(_ level: DiagnosticLevel, _ domain: DiagnosticDomain) -> Bool {
        let lowest = domains.isEmpty ? self.level : domains[domain] ?? self.level
        return lowest.map { level >= $0 } ?? false
    }

    var isSilent: Bool { level == nil && domains.values.allSatisfy { $0 == nil } }
}
