import Foundation

/// A redaction that removes secrets from logs: values with secret names, and tokens in any text.
public struct Redaction: Sendable, Hashable {
    private static let placeholder = "<redacted>"

    /// The default words that mark a name as secret, in lowercase, without hyphens and underscores.
    public static let sensitiveWords: Set<String> = [
        "password", "passwd", "passphrase", "secret", "token", "authorization", "cookie", "apikey", "accesskey",
        "privatekey", "credential",
        "jwt", "sessionid", "xauth",
    ]

    private let words: [[UInt8]]

    /// Creates a redaction with your own words. Case, hyphens and underscores in names are ignored: `newPassword`,
    /// `X-API-Key`.
    /// - Parameter words: The words in lowercase, without hyphens and underscores.
    public init(words: Set<String> = Redaction.sensitiveWords) {
        // Sorted, so that redactions with the same words are equal.
        self.words = words.sorted().map { Array($0.utf8) }
    }

    /// Returns whether values with this name are secret.
    package func isSensitive(_ name: String) -> Bool {
        // Called for every name in every payload. Searching bytes is much faster than searching characters.
        let plain = name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        return words.contains { word in
            guard plain.count >= word.count else { return false }
            return (0...plain.count - word.count).contains { plain[$0...].starts(with: word) }
        }
    }

    /// Returns the value with its secrets redacted, at any depth.
    package func redact(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object): .object(redact(object))
        case .array(let array): .array(array.map { redact($0) })
        case .string(let string): .string(redact(text: string))
        default: value
        }
    }

    /// Returns the object with its secrets redacted, at any depth.
    package func redact(_ object: JSONObject) -> JSONObject {
        var redacted = JSONObject(minimumCapacity: object.count)
        for (key, value) in object { redacted[key] = isSensitive(key) ? .string(Self.placeholder) : redact(value) }
        return redacted
    }

    func redact(_ attributes: DiagnosticAttributes) -> DiagnosticAttributes {
        var redacted: DiagnosticAttributes = [:]
        for (name, value) in attributes {
            switch value {
            case _ where isSensitive(name.rawValue): redacted.append(.string(Self.placeholder), as: name)
            case .string(let text): redacted.append(.string(redact(text: text)), as: name)
            case .json(let json): redacted.append(.json(redact(json)), as: name)
            default: redacted.append(value, as: name)
            }
        }
        return redacted
    }

    /// Returns the text with its secrets redacted: JSON Web Tokens, values after `Bearer` or `Basic`, and user and
    /// password in URLs.
    package func redact(text: String) -> String {
        guard Self.mayHoldToken(text) else { return text }
        var redacted = ""
        var isScheme = false
        let text = Self.withoutUserInfo(text)
        var rest = Substring(text)
        while let first = rest.first {
            let isWord = first.standsInToken
            let end = rest.firstIndex { $0.standsInToken != isWord } ?? rest.endIndex
            let run = rest[..<end]
            rest = rest[end...]
            guard isWord else {
                redacted += run
                isScheme = isScheme && run.allSatisfy(\.isWhitespace)
                continue
            }
            redacted += isScheme || Self.isToken(run) ? Self.placeholder : String(run)
            isScheme = ["bearer", "basic"].contains(run.lowercased())
        }
        return redacted
    }

    /// Returns whether a word has three parts separated by dots and contains the Base64 of `{"`.
    private static func isToken(_ word: Substring) -> Bool { word.contains("eyJ") && word.count { $0 == "." } >= 2 }

    /// Removes user and password from URLs: the text between `://` and the last `@` before the path.
    private static func withoutUserInfo(_ text: String) -> String {
        var redacted = ""
        var rest = Substring(text)
        while let start = rest.firstRange(of: "://")?.upperBound {
            let end = rest[start...].firstIndex { "/?#\"'<>".contains($0) || $0.isWhitespace } ?? rest.endIndex
            redacted += rest[..<start]
            let mark = rest[start..<end].lastIndex(of: "@")
            if mark != nil { redacted += placeholder }
            rest = rest[(mark ?? start)...]
        }
        return redacted + rest
    }

    /// Quickly checks whether the text contains `eyJ`, `Bearer`, `Basic` or `://`.
    private static func mayHoldToken(_ text: String) -> Bool {
        var (last, lastButOne): (UInt8, UInt8) = (0, 0)
        for byte in text.utf8 {
            // Ignores case. The first three letters of a scheme are sufficient.
            let letter = byte | 0x20
            switch (lastButOne, last, letter) {
            case (UInt8(ascii: "e"), UInt8(ascii: "y"), UInt8(ascii: "j")),
                (UInt8(ascii: "b"), UInt8(ascii: "e"), UInt8(ascii: "a")),
                (UInt8(ascii: "b"), UInt8(ascii: "a"), UInt8(ascii: "s")),
                (UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "/")):
                return true
            default: (lastButOne, last) = (last, letter)
            }
        }
        return false
    }
}

extension Character {
    /// Whether the character is a letter, a digit, or a symbol of Base64 or JSON Web Tokens.
    fileprivate var standsInToken: Bool { isLetter || isNumber || "-._~+/=".contains(self) }
}

/// The level of detail for a sink, and its redaction.
package struct DiagnosticDetail: Sendable {
    package let redaction: Redaction
    private let verbosity: DiagnosticVerbosity

    init(redaction: Redaction, verbosity: DiagnosticVerbosity) {
        self.redaction = redaction
        self.verbosity = verbosity
    }

    package var isVerbose: Bool { verbosity != .brief }

    /// Returns a payload as text, redacted and truncated; nil if payloads are not reported.
    package func body(_ json: JSONValue) -> DiagnosticAttributes.Value? {
        guard case .verbose(let limit) = verbosity else { return nil }
        return .string(Self.cut(redaction.redact(json).description, to: limit))
    }

    /// Returns bytes as text if they can be redacted, like JSON and forms; otherwise only their number.
    package func body(_ bytes: [UInt8], type: String?) -> DiagnosticAttributes.Value? {
        guard case .verbose(let limit) = verbosity, !bytes.isEmpty else { return nil }
        let type = type?.lowercased() ?? ""
        if type.contains("json"), let json = try? JSONValue(parsing: bytes) { return body(json) }
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return .string(Self.cut(redaction.redact(form: String(decoding: bytes, as: UTF8.self)), to: limit))
        }
        return .string("\(bytes.count) bytes")
    }

    /// Returns redacted header fields; nil if they are not reported or there are none.
    package func headers(_ fields: some Sequence<(key: String, value: String)>) -> DiagnosticAttributes.Value? {
        guard isVerbose else { return nil }
        var object = JSONObject()
        for (name, value) in fields { object[name] = .string(value) }
        return object.isEmpty ? nil : .json(.object(redaction.redact(object)))
    }

    private static func cut(_ text: String, to limit: Int) -> String {
        let bytes = text.utf8
        guard bytes.count > limit else { return text }
        // Truncated after the last complete character within the limit.
        var end = bytes.index(bytes.startIndex, offsetBy: max(limit, 0))
        while end > bytes.startIndex, end.samePosition(in: text) == nil { end = bytes.index(before: end) }
        return "\(text[..<end])… (\(bytes.count) bytes)"
    }
}

extension Redaction {
    /// Returns a query string or form with the values of secret names redacted.
    package func redact(form: String) -> String {
        form.split(separator: "&", omittingEmptySubsequences: false).map { field in
            guard let mark = field.firstIndex(of: "=") else { return redact(text: String(field)) }
            let (name, value) = (field[..<mark], field[field.index(after: mark)...])
            let plainName = String(name).removingPercentEncoding ?? String(name)
            return "\(name)=\(isSensitive(plainName) ? Self.placeholder : redact(text: String(value)))"
        }.joined(separator: "&")
    }
}
