import FeathersCore

/// A location in a JSON value (RFC 6901), such as `/data/0/attributes/title`; empty for the whole value.
public struct JSONPointer: Hashable, Sendable {
    /// The pointer's text.
    public let text: String

    /// The location of the whole value.
    public static let root = JSONPointer(checked: "")
    static let data = JSONPointer(checked: "/data")
    static let included = JSONPointer(checked: "/included")

    /// Creates a pointer from text that is empty or starts with `/`, with `~` escaped as `~0` and `/` as `~1`; nil for
    /// any other text.
    public init?(_ text: String) {
        guard text.isEmpty || text.hasPrefix("/") else { return nil }
        let escapes = text.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
        guard escapes.allSatisfy({ $0.first == "0" || $0.first == "1" }) else { return nil }
        self.text = text
    }

    private init(checked text: String) { self.text = text }

    /// Returns the location of a key inside this location.
    public func appending(_ key: String) -> JSONPointer {
        JSONPointer(checked: "\(text)/\(key.escaping(["~": "~0", "/": "~1"]))")
    }

    /// Returns the location of an element inside this location.
    public func appending(_ index: Int) -> JSONPointer { JSONPointer(checked: "\(text)/\(index)") }

    /// Returns the location that a coding path leads to from this location.
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

/// A problem in a JSON:API document, and its location.
///
/// It is thrown for a document that cannot be read or written, and listed by ``JSONAPIDocument/violations(in:as:)`` for
/// a violation of the specification. For an error sent by a server, see ``JSONAPIErrorObject``.
public struct JSONAPIError: Error, Hashable, Sendable {
    /// The location in the document, which may be that of a missing member.
    public let pointer: JSONPointer
    /// A description of the problem. It names members and types, but never the values of attributes.
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
