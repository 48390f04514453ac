/// What is not logged: values whose names sound secret, and tokens wherever they stand.
public struct Redaction: Sendable, Hashable {
    /// What stands in place of what is not logged.
    public static let placeholder = "<redacted>"

    /// Words that make a name secret: in lower case, without hyphens and underscores.
    public static let sensitiveWords: Set<String> = [
        "password", "passwd", "passphrase", "secret", "token", "authorization", "cookie", "apikey", "accesskey", "privatekey", "credential",
        "jwt", "sessionid", "xauth",
    ]

    /// The words in use. A name is secret when it contains one, whatever its case, hyphens and underscores: `newPassword`, `X-API-Key`.
    public var words: Set<String>

    /// - Parameter words: in lower case, without hyphens and underscores.
    public init(words: Set<String> = Redaction.sensitiveWords) {
        self.words = words
    }

    /// Redacts by ``sensitiveWords``.
    public static let standard = Redaction()

    /// Whether the values of this name are secret.
    public func isSensitive(_ name: String) -> Bool {
        let plain = String(decoding: name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }, as: UTF8.self)
        return words.contains { plain.contains($0) }
    }

    /// The value without what is secret in it, at any depth.
    public func redact(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object): .object(redact(object))
        case .array(let array): .array(array.map { redact($0) })
        case .string(let string): .string(redact(text: string))
        default: value
        }
    }

    /// The object without what is secret in it, at any depth.
    public func redact(_ object: JSONObject) -> JSONObject {
        var redacted = JSONObject(minimumCapacity: object.count)
        for (key, value) in object { redacted[key] = isSensitive(key) ? .string(Self.placeholder) : redact(value) }
        return redacted
    }

    func redact(_ attributes: DiagnosticAttributes) -> DiagnosticAttributes {
        var redacted = DiagnosticAttributes()
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
}

extension Redaction {
    /// The text without the tokens in it: JSON Web Tokens, and what follows `Bearer` or `Basic`.
    public func redact(text: String) -> String {
        guard Self.mayHoldToken(text) else { return text }
        var redacted = ""
        var isScheme = false
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

    /// Three parts divided by dots, the first of which is the base64 of `{"`.
    private static func isToken(_ word: Substring) -> Bool {
        word.contains("eyJ") && word.count { $0 == "." } >= 2
    }

    private static func mayHoldToken(_ text: String) -> Bool {
        text.contains("eyJ") || ["earer", "EARER", "asic", "ASIC"].contains { text.contains($0) }
    }
}

extension Character {
    /// Letters, digits and what base64 and JSON Web Tokens have besides.
    fileprivate var standsInToken: Bool {
        isLetter || isNumber || "-._~+/=".contains(self)
    }
}
