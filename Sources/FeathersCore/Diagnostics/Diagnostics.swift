import Foundation
import Synchronization

/// The sinks of an app, and the call one is in: what hooks, services and plugins report to.
///
/// ```swift
/// Diagnostics.current.log(.debug, .cache, "hit", [.path: "messages", "age": .duration(age)])
/// ```
///
/// Nothing is made of what no sink wants: message and attributes are only asked for where one does.
public struct Diagnostics: Sendable {
    /// A sink, and what it wants to hear.
    struct Outlet: Sendable {
        let sink: any DiagnosticSink
        let levels: DiagnosticLevels
        let detail: DiagnosticDetail
    }

    private(set) var outlets: [Outlet] = []
    /// The call that is under way.
    private(set) var call: CallTrace?

    /// Reports to nobody.
    public init() {}

    init(_ outlet: Outlet) {
        if !outlet.levels.isSilent { outlets = [outlet] }
    }

    /// Where the call that is under way in this task reports to; to nobody outside of calls.
    @TaskLocal public static var current = Diagnostics()

    /// The call that is under way: the same from its start through every attempt to its end.
    public var callID: UInt64? { call?.id }

    var isEmpty: Bool { outlets.isEmpty }

    /// Whether anybody wants to hear of something of this level and domain.
    public func wants(_ level: DiagnosticLevel, _ domain: DiagnosticDomain) -> Bool {
        outlets.contains { $0.levels.allow(level, domain) }
    }

    /// Reports something that happened. It is redacted: values of secret names, tokens in texts.
    public func log(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, _ message: @autoclosure () -> String,
        _ attributes: @autoclosure () -> DiagnosticAttributes = [:], error: (any Error)? = nil
    ) {
        report(level, domain, error: error) { detail in
            DiagnosticReport(message: detail.redaction.redact(text: message()), attributes: detail.redaction.redact(attributes()))
        }
    }

    /// Reports something that happened, to each sink in as much detail as it wants.
    package func report(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, error: (any Error)? = nil, _ make: (DiagnosticDetail) -> DiagnosticReport
    ) {
        for outlet in outlets where outlet.levels.allow(level, domain) {
            let report = make(outlet.detail)
            outlet.sink.receive(
                DiagnosticEvent(
                    level, domain, report.message, report.attributes, toldCount: report.toldCount, callID: callID, error: error))
        }
    }

    mutating func append(_ other: Diagnostics) {
        outlets += other.outlets
    }

    /// The same sinks in a call that begins.
    func beginningCall() -> Diagnostics {
        var diagnostics = self
        diagnostics.call = CallTrace()
        return diagnostics
    }
}

/// What ties together all that is reported about one call.
final class CallTrace: Sendable {
    private static let count = Atomic<UInt64>(0)

    let id = count.add(1, ordering: .relaxed).newValue
    /// How often it was tried again.
    let retries = Atomic<Int>(0)
}

/// What a sink is told: the words and what is known.
package struct DiagnosticReport {
    package var message: String
    package var attributes: DiagnosticAttributes
    /// How many of the attributes the message tells already, from the first on.
    package var toldCount = 0

    package init(message: String, attributes: DiagnosticAttributes, toldCount: Int = 0) {
        self.message = message
        self.attributes = attributes
        self.toldCount = toldCount
    }
}
