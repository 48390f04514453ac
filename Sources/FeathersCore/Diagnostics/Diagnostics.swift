import FeathersSupport
import Foundation
import Synchronization

/// The sinks of an app and the current call. Hooks, services and plugins report to it.
///
/// ```swift
/// Diagnostics.current.log(.debug, .cache, "hit", [.path: "messages", "age": .duration(age)])
/// ```
///
/// The message and attributes are evaluated only if a sink receives the event.
public struct Diagnostics: Sendable {
    struct Outlet: Sendable {
        let sink: any DiagnosticSink
        let levels: DiagnosticLevels
        let detail: DiagnosticDetail
    }

    private(set) var outlets: [Outlet] = []
    private(set) var call: CallTrace?

    init() {}

    init(_ outlet: Outlet) {
        if !outlet.levels.isSilent { outlets = [outlet] }
    }

    /// The diagnostics of the current task's call. Outside of calls, there are no sinks.
    @TaskLocal public static var current = Diagnostics()

    /// The id of the current call. All attempts of a call have the same id.
    package var callID: UInt64? { call?.id }

    var isEmpty: Bool { outlets.isEmpty }

    /// Returns whether a sink receives events of this level and domain.
    package func wants(_ level: DiagnosticLevel, _ domain: DiagnosticDomain) -> Bool {
        outlets.contains { $0.levels.allow(level, domain) }
    }

    /// Reports an event. Values with secret names, and tokens in texts, are redacted.
    public func log(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, _ message: @autoclosure () -> String,
        _ attributes: @autoclosure () -> DiagnosticAttributes = [:], error: (any Error)? = nil
    ) {
        report(level, domain, error: error) { detail in
            (detail.redaction.redact(text: message()), detail.redaction.redact(attributes()), 0)
        }
    }

    /// Reports an event to each sink, with the detail that the sink requests.
    package func report(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, error: (any Error)? = nil,
        _ make: (DiagnosticDetail) -> DiagnosticReport
    ) {
        for outlet in outlets where outlet.levels.allow(level, domain) {
            let report = make(outlet.detail)
            var event = DiagnosticEvent(level, domain, report.message, report.attributes, callID: callID, error: error)
            event.toldCount = report.toldCount
            event.trace = call?.span ?? TraceContext.current
            outlet.sink.receive(event)
        }
    }

    mutating func append(_ other: Diagnostics) { outlets += other.outlets }

    func beginningCall() -> Diagnostics {
        var diagnostics = self
        diagnostics.call = CallTrace()
        return diagnostics
    }
}

/// The identity of a call, shared by all reports on it.
final class CallTrace: Sendable {
    private static let count = Atomic<UInt64>(0)

    let id = count.add(1, ordering: .relaxed).newValue
    let retries = Atomic<Int>(0)
    let span = TraceContext.current?.child()
    private let state = Locked(State())

    private struct State {
        var transport: String?
        var reportedFailure: Failure?
    }

    struct Failure: Hashable {
        let path: String
        let method: ServiceMethod
    }

    /// The transport that has sent the call last; nil if none has.
    var transport: String? {
        get { state.withLock { $0.transport } }
        set { state.withLock { $0.transport = newValue } }
    }

    /// The last call within this one whose failure was reported.
    var reportedFailure: Failure? {
        get { state.withLock { $0.reportedFailure } }
        set { state.withLock { $0.reportedFailure = newValue } }
    }
}

extension Diagnostics {
    /// Records the transport that sends the current call.
    package func isSent(over transport: StaticString) { call?.transport = "\(transport)" }
}

/// The message and attributes of an event, for one sink, and the number of leading attributes that the message
/// contains.
package typealias DiagnosticReport = (message: String, attributes: DiagnosticAttributes, toldCount: Int)

extension Diagnostics {
    func report(_ status: ConnectionStatus) {
        switch status {
        case .offline: log(.info, .connection, "offline")
        case .connecting(let attempt):
            log(.debug, .connection, "connecting, attempt \(attempt)", [.attempt: .integer(attempt)])
        case .connected(let recovered):
            log(
                .info, .connection, recovered ? "connected, missed events recovered" : "connected",
                ["recovered": .bool(recovered)])
        case .waiting(let attempt, let delay, let reason):
            log(
                .notice, .connection,
                "not connected (\(reason.logText)), next attempt in \(delay.wholeMilliseconds) ms",
                [.attempt: .integer(attempt), .duration: .duration(delay), .reason: .string(reason.wireName)])
        case .closed(let reason):
            log(
                .error, .connection, "closed permanently: \(reason.logText)",
                [.reason: .string(reason.wireName)])
        }
    }
}

extension DisconnectReason {
    /// The name of the reason in Socket.IO's client.
    var wireName: String { parts.name }

    /// The reason with its message.
    var logText: String { parts.message.map { "\(wireName): \($0)" } ?? wireName }

    private var parts: (name: String, message: String?) {
        switch self {
        case .serverDisconnect: ("io server disconnect", nil)
        case .clientDisconnect: ("io client disconnect", nil)
        case .pingTimeout: ("ping timeout", nil)
        case .transportClose: ("transport close", nil)
        case .transportError(let message): ("transport error", message)
        case .parseError(let message): ("parse error", message)
        case .refused(let message): ("connect_error", message)
        case .attemptsExhausted: ("reconnect_failed", nil)
        }
    }
}
