import Foundation

/// In how much detail a sink is told, and what it is not told.
package struct DiagnosticDetail: Sendable {
    package let redaction: Redaction
    private let verbosity: DiagnosticVerbosity

    init(redaction: Redaction, verbosity: DiagnosticVerbosity) {
        self.redaction = redaction
        self.verbosity = verbosity
    }

    package var isVerbose: Bool { verbosity != .brief }

    /// A payload as text, redacted and cut; nil where payloads are not told.
    package func body(_ json: JSONValue) -> DiagnosticAttributes.Value? {
        guard case .verbose(let limit) = verbosity else { return nil }
        return .string(Self.cut(redaction.redact(json).description, to: limit))
    }

    /// Bytes as text where they are of a kind that can be redacted, JSON or a form; else their number alone.
    package func body(_ bytes: [UInt8], type: String?) -> DiagnosticAttributes.Value? {
        guard case .verbose(let limit) = verbosity, !bytes.isEmpty else { return nil }
        let type = type?.lowercased() ?? ""
        if type.contains("json"), let json = try? JSONValue(parsing: bytes) { return body(json) }
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return .string(Self.cut(redaction.redact(form: String(decoding: bytes, as: UTF8.self)), to: limit))
        }
        return .string("\(bytes.count) bytes")
    }

    /// Header fields, redacted; nil where they are not told, or there are none.
    package func headers(_ fields: some Sequence<(key: String, value: String)>) -> DiagnosticAttributes.Value? {
        guard isVerbose else { return nil }
        var object = JSONObject()
        for (name, value) in fields { object[name] = .string(value) }
        return object.isEmpty ? nil : .json(.object(redaction.redact(object)))
    }

    private static func cut(_ text: String, to limit: Int) -> String {
        let bytes = text.utf8
        guard bytes.count > limit else { return text }
        // At the last whole character within the limit.
        var end = bytes.index(bytes.startIndex, offsetBy: max(limit, 0))
        while end > bytes.startIndex, end.samePosition(in: text) == nil { end = bytes.index(before: end) }
        return "\(text[..<end])… (\(bytes.count) bytes)"
    }
}

extension Redaction {
    /// A query string or form without the values of secret names.
    package func redact(form: String) -> String {
        form.split(separator: "&", omittingEmptySubsequences: false).map { field in
            guard let mark = field.firstIndex(of: "=") else { return redact(text: String(field)) }
            let (name, value) = (field[..<mark], field[field.index(after: mark)...])
            let plainName = String(name).removingPercentEncoding ?? String(name)
            return "\(name)=\(isSensitive(plainName) ? Self.placeholder : redact(text: String(value)))"
        }.joined(separator: "&")
    }
}
