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
    public var words: Set<String> {
        didSet { bytes = words.map { Array($0.utf8) } }
    }

    /// The words as they are searched for.
    private var bytes: [[UInt8]]

    /// A redaction of what words of your own name.
    /// - Parameter words: in lower case, without hyphens and underscores.
    public init(words: Set<String> = Redaction.sensitiveWords) {
        self.words = words
        bytes = words.map { Array($0.utf8) }
    }

    /// Redacts by ``sensitiveWords``.
    public static let standard = Redaction()

    /// Whether the values of this name are secret.
    public func isSensitive(_ name: String) -> Bool {
        // Asked about every name of every payload that is told: bytes are searched much faster than characters.
        let plain = name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
        return bytes.contains { word in
            guard plain.count >= word.count else { return false }
            return (0...plain.count - word.count).contains { plain[$0...].starts(with: word) }
        }
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

    /// Whether a closer look is worth its time: `eyJ`, `Bearer` or `Basic` stands somewhere in the text.
    private static func mayHoldToken(_ text: String) -> Bool {
        var (last, lastButOne): (UInt8, UInt8) = (0, 0)
        for byte in text.utf8 {
            // Letters without case; of the schemes their first three letters will do.
            let letter = byte | 0x20
            switch (lastButOne, last, letter) {
            case (UInt8(ascii: "e"), UInt8(ascii: "y"), UInt8(ascii: "j")), (UInt8(ascii: "b"), UInt8(ascii: "e"), UInt8(ascii: "a")),
                (UInt8(ascii: "b"), UInt8(ascii: "a"), UInt8(ascii: "s")):
                return true
            default: (lastButOne, last) = (last, letter)
            }
        }
        return false
    }
}

extension Character {
    /// Letters, digits and what base64 and JSON Web Tokens have besides.
    fileprivate var standsInToken: Bool {
        isLetter || isNumber || "-._~+/=".contains(self)
    }
}
