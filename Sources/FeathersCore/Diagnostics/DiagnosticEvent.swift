public import Foundation

/// Something that happened: a call that ended, a connection that changed, whatever else a plugin reports.
///
/// Nothing in it is secret as far as ``Redaction`` knows, but for ``error``, which is there for programs and never printed.
public struct DiagnosticEvent: Sendable {
    /// When it happened.
    public let time: Date
    /// How much it matters.
    public let level: DiagnosticLevel
    /// What it is about.
    public let domain: DiagnosticDomain
    /// What happened, for people.
    public let message: String
    /// What is known about it, for programs.
    public let attributes: DiagnosticAttributes
    /// The call during which it happened: the same from its start through every attempt to its end.
    public let callID: UInt64?
    /// The failure as it was thrown. It may hold payloads: do not print it.
    public let error: (any Error)?
    /// How many attributes the message tells already.
    let toldCount: Int

    /// An event; the parameters are the properties of the same names.
    public init(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, _ message: String, _ attributes: DiagnosticAttributes = [:],
        callID: UInt64? = nil, error: (any Error)? = nil, time: Date = Date()
    ) {
        self.init(level, domain, message, attributes, toldCount: 0, callID: callID, error: error, time: time)
    }

    init(
        _ level: DiagnosticLevel, _ domain: DiagnosticDomain, _ message: String, _ attributes: DiagnosticAttributes, toldCount: Int,
        callID: UInt64?, error: (any Error)?, time: Date = Date()
    ) {
        self.time = time
        self.level = level
        self.domain = domain
        self.message = message
        self.attributes = attributes
        self.callID = callID
        self.error = error
        self.toldCount = toldCount
    }

    /// The value of an attribute; nil where there is none.
    public subscript(name: DiagnosticAttributes.Name) -> DiagnosticAttributes.Value? { attributes[name] }

    /// How long it took, where that is known.
    public var duration: Duration? {
        if case .duration(let duration)? = self[.duration] { duration } else { nil }
    }
}

extension DiagnosticEvent: CustomStringConvertible {
    /// The message and whatever attributes it does not tell, on one line.
    public var description: String {
        var text = message.onOneLine
        for (name, value) in attributes.dropFirst(toldCount) { text += " \(name)=\(value.description.onOneLine)" }
        return text
    }
}

extension String {
    /// The text with its control characters escaped, so that whoever chose it can not begin a line.
    fileprivate var onOneLine: String {
        // Nearly all of it is plain ASCII, which is told by its bytes.
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return self }
        return unicodeScalars.map { $0.endsLine ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    /// Control characters, and the two of Unicode that divide lines.
    fileprivate var endsLine: Bool {
        properties.generalCategory == .control || self == "\u{2028}" || self == "\u{2029}"
    }
}
