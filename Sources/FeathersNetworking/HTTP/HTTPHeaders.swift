/// Header fields in order; names compare without regard to case.
///
/// Every field set by ``set(_:to:)`` is checked, so that a value that came from a user cannot inject a second field.
public struct HTTPHeaders: Sendable, CustomStringConvertible {
    /// A field's name, as it was written, and its value.
    public typealias Field = (name: String, value: String)

    private var fields: [Field] = []

    /// No fields.
    public init() {}

    /// Fields received from a server, which need no check: they are never sent.
    package init(received fields: [Field]) { self.fields = fields }

    /// The value of the first field with this name, or nil.
    public subscript(name: String) -> String? { fields.first { Self.same($0.name, name) }?.value }

    /// Sets a field, in place of every field of that name.
    /// - Throws: ``HTTPClientError`` of kind ``HTTPClientError/Kind/invalidHeader`` that names the field, never its value, where the name is
    ///   no token (RFC 9110 5.6.2), the value holds control characters (5.5), or the field frames the message and
    ///   is the client's own to set (`Content-Length`, `Transfer-Encoding`).
    public mutating func set(_ name: String, to value: String) throws(HTTPClientError) {
        try Self.check(name, value)
        if let index = fields.firstIndex(where: { Self.same($0.name, name) }) {
            // The first place is kept, the new spelling wins.
            fields[index] = (name, value)
            let tail = fields[(index + 1)...].filter { !Self.same($0.name, name) }
            fields.replaceSubrange((index + 1)..., with: tail)
        } else {
            fields.append((name, value))
        }
    }

    /// Removes every field of this name.
    public mutating func remove(_ name: String) { fields.removeAll { Self.same($0.name, name) } }

    /// Sets fields, in place of those of their names.
    package mutating func merge(_ headers: [String: String]) throws(HTTPClientError) {
        // Sorted, so that two spellings of one name give the same result in every run.
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            try set(name, to: value)
        }
    }

    /// The names only: values may be secrets.
    public var description: String { "[" + fields.map(\.name).joined(separator: ", ") + "]" }

    private static func check(_ name: String, _ value: String) throws(HTTPClientError) {
        guard HTTPFieldSyntax.isToken(name) else {
            throw HTTPClientError(.invalidHeader, "The header name \(HTTPFieldSyntax.printable(name)) is no valid field name")
        }
        guard HTTPFieldSyntax.isFieldValue(value) else {
            throw HTTPClientError(.invalidHeader, "The value of the header \(name) holds control characters, such as line breaks")
        }
        let lowercased = name.lowercased()
        guard lowercased != "content-length", lowercased != "transfer-encoding" else {
            throw HTTPClientError(.invalidHeader, "The header \(name) frames the message and is set by the HTTP client itself")
        }
    }

    private static func same(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.utf8, right.utf8)
        return left.count == right.count && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte }
}

extension HTTPHeaders: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { fields.count }
    public subscript(position: Int) -> Field { fields[position] }
}

/// The syntax of header fields (RFC 9110, sections 5.5 and 5.6.2).
package enum HTTPFieldSyntax {
    static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    package static func isFieldValue(_ text: String) -> Bool {
        // Bytes over 0x7F are obs-text: legal, and what a UTF-8 value becomes.
        text.utf8.allSatisfy { byte in byte >= 0x20 && byte != 0x7F || byte == 0x09 }
    }

    /// A rejected name in quotes, its control characters escaped so that a log line stays one line.
    static func printable(_ text: String) -> String {
        "\"" + text.prefix(80).unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
