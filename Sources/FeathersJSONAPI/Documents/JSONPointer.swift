import FeathersCore

/// A location in a JSON value (RFC 6901): `/data/0/attributes/title`; empty for the whole value.
public struct JSONPointer: Hashable, Sendable {
    /// The pointer's text.
    public let text: String

    /// The whole value.
    public static let root = JSONPointer(checked: "")
    static let data = JSONPointer(checked: "/data")
    static let included = JSONPointer(checked: "/included")

    /// Creates a pointer from its text, which must be empty or start with `/`, and escape `~` as `~0` and `/` as `~1`; otherwise nil.
    public init?(_ text: String) {
        guard text.isEmpty || text.hasPrefix("/") else { return nil }
        let escapes = text.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
        guard escapes.allSatisfy({ $0.first == "0" || $0.first == "1" }) else { return nil }
        self.text = text
    }

    private init(checked text: String) { self.text = text }

    /// The location of a key inside this one.
    public func appending(_ key: String) -> JSONPointer {
        JSONPointer(checked: "\(text)/\(key.escaping(["~": "~0", "/": "~1"]))")
    }

    /// The location of an element inside this one.
    public func appending(_ index: Int) -> JSONPointer { JSONPointer(checked: "\(text)/\(index)") }

    /// The location that a coding path leads to from here.
    func appending(_ path: [any CodingKey]) -> JSONPointer {
        path.reduce(self) { pointer, key in key.intValue.map(pointer.appending) ?? pointer.appending(key.stringValue) }
    }

    /// The unescaped keys and indices of the path.
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
}

extension JSONPointer: CustomStringConvertible { public var description: String { text } }

/// A problem of a JSON:API document, and its location.
///
/// It is thrown for what cannot be read or written at all, and listed by ``JSONAPIDocument/violations(in:as:)`` for what violates the
/// specification. An error that a server sends is a ``JSONAPIErrorObject``.
public struct JSONAPIError: Error, Hashable, Sendable {
    /// The location in the document, which may be that of a missing member.
    public let pointer: JSONPointer
    /// A description of the problem. It names members and types, never the values of attributes.
    public let message: String

    /// Creates an error at a location.
    public init(_ pointer: JSONPointer, _ message: String) {
        self.pointer = pointer
        self.message = message
    }
}

extension JSONAPIError: CustomStringConvertible {
    public var description: String { pointer.text.isEmpty ? message : "\(message) (at \(pointer))" }
}
