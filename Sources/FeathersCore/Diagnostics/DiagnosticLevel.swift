/// How much something that happened matters.
public enum DiagnosticLevel: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    /// Every step: that a call begins.
    case trace
    /// What helps to find a fault: HTTP exchanges, attempts to connect.
    case debug
    /// What happens all the time: calls that succeed or are cancelled, a connection that stands.
    case info
    /// What is out of the ordinary and mended by itself: a call that is tried again, a connection that was lost.
    case notice
    /// What a server refused: it is the caller's to handle.
    case warning
    /// What failed.
    case error

    public static func < (left: DiagnosticLevel, right: DiagnosticLevel) -> Bool { left.rawValue < right.rawValue }

    public var description: String {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        }
    }
}

/// What something that happened is about. Open: plugins name their own.
public struct DiagnosticDomain: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        self.rawValue = value
    }

    /// Calls of services.
    public static let calls = DiagnosticDomain(rawValue: "calls")
    /// The connection of a real-time transport.
    public static let connection = DiagnosticDomain(rawValue: "connection")
    /// Events of services.
    public static let events = DiagnosticDomain(rawValue: "events")
    /// Caches.
    public static let cache = DiagnosticDomain(rawValue: "cache")
    /// Log-in, log-out and tokens.
    public static let authentication = DiagnosticDomain(rawValue: "authentication")
    /// HTTP exchanges.
    public static let http = DiagnosticDomain(rawValue: "http")

    public var description: String { rawValue }
}

/// From which level on a sink wants to hear of what: one level for everything, and others for single domains.
///
/// ```swift
/// DiagnosticLevels(.info)
/// DiagnosticLevels(.warning, [.http: .debug, .cache: nil])
/// ```
public struct DiagnosticLevels: Sendable, Hashable {
    /// The level of every domain without one of its own; nil for nothing.
    public var level: DiagnosticLevel?
    /// The levels of single domains; nil for nothing.
    public var domains: [DiagnosticDomain: DiagnosticLevel?]

    /// Levels: one for all domains, and those that have their own; nil hears nothing.
    public init(_ level: DiagnosticLevel?, _ domains: [DiagnosticDomain: DiagnosticLevel?] = [:]) {
        self.level = level
        self.domains = domains
    }

    /// Everything.
    public static let all = DiagnosticLevels(.trace)

    /// Whether something of this level and domain is wanted.
    public func allow(_ level: DiagnosticLevel, _ domain: DiagnosticDomain) -> Bool {
        let lowest = domains.isEmpty ? self.level : domains[domain] ?? self.level
        return lowest.map { level >= $0 } ?? false
    }

    /// Whether nothing at all is wanted.
    var isSilent: Bool { level == nil && domains.values.allSatisfy { $0 == nil } }
}
