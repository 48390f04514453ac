public import FeathersCore

/// A place in a JSON value (RFC 6901): `/data/0/attributes/title`; empty for the whole value.
public struct JSONPointer: Hashable, Sendable {
    /// The pointer as it is written.
    public let text: String

    /// The whole value.
    public static let root = JSONPointer(checked: "")

    /// A pointer from its text, or nil where that is none: it must be empty or start with `/`, and a `~` must be `~0` or `~1`.
    public init?(_ text: String) {
        guard text.isEmpty || text.hasPrefix("/") else { return nil }
        let escapes = text.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
        guard escapes.allSatisfy({ $0.first == "0" || $0.first == "1" }) else { return nil }
        self.text = text
    }

    private init(checked text: String) {
        self.text = text
    }

    /// The place of a key inside this one.
    public func appending(_ key: String) -> JSONPointer {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
            return JSONPointer(checked: "\(text)/\(key)")
        }
        var escaped = ""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "~": escaped += "~0"
            case "/": escaped += "~1"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return JSONPointer(checked: "\(text)/\(escaped)")
    }

    /// The place of an element inside this one.
    public func appending(_ index: Int) -> JSONPointer {
        JSONPointer(checked: "\(text)/\(index)")
    }

    /// The keys and indices on the way, unescaped.
    public var tokens: [String] {
        guard !text.isEmpty else { return [] }
        return text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { token in
            var name = ""
            var isEscape = false
            for scalar in token {
                if isEscape {
                    name += scalar == "0" ? "~" : "/"
                    isEscape = false
                } else if scalar == "~" {
                    isEscape = true
                } else {
                    name.unicodeScalars.append(scalar)
                }
            }
            return name
        }
    }

    /// What stands at this place of a value, or nil where nothing does.
    public func value(in json: JSONValue) -> JSONValue? {
        tokens.reduce(json as JSONValue?) { value, token in
            switch value {
            case .object(let object)?: object[token]
            case .array?: Int(token).flatMap { String($0) == token ? value?[$0] : nil }
            default: nil
            }
        }
    }
}

extension JSONPointer: CustomStringConvertible {
    public var description: String { text }
}
