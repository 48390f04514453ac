/// An ordered collection of header fields. Names are case-insensitive.
///
/// Every field set with ``set(_:to:)`` is validated, so that a value from a user cannot inject a second field.
public struct HTTPHeaders: Sendable, CustomStringConvertible {
    /// A field's name, as written, and its value.
    public typealias Field = (name: String, value: String)

    private var storedFields: [Field] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection of fields received from a server. They need no validation, because they are never sent.
    package init(received fields: [Field]) { self.storedFields = fields }

    /// The value of the first field with this name, or nil.
    public subscript(name: String) -> String? { storedFields.first { Self.same($0.name, name) }?.value }

    /// Sets a field, replacing every field of that name.
    /// - Throws: ``HTTPClientError`` of kind ``HTTPClientError/Kind/invalidHeader``, which names the field but never
    ///   its value, if the name isn't a token (RFC 9110, section 5.6.2), the value contains control characters (section
    ///   5.5), or the client itself sets the field to frame the message (`Content-Length`, `Transfer-Encoding`).
    public mutating func set(_ name: String, to value: String) throws(HTTPClientError) {
        try Self.check(name, value)
        if let index = storedFields.firstIndex(where: { Self.same($0.name, name) }) {
            // The field keeps its first position and takes the new spelling.
            storedFields[index] = (name, value)
            let tail = storedFields[(index + 1)...].filter { !Self.same($0.name, name) }
            storedFields.replaceSubrange((index + 1)..., with: tail)
        } else {
            storedFields.append((name, value))
        }
    }

    /// Removes every field with this name.
    public mutating func remove(_ name: String) { storedFields.removeAll { Self.same($0.name, name) } }

    /// Sets fields, replacing those with the same names.
    package mutating func setFields(_ headers: [String: String]) throws(HTTPClientError) {
        // Sorted, so that two spellings of one name give the same result every time.
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            try set(name, to: value)
        }
    }

    /// The names only, because values may be secrets.
    public var description: String { "[" + storedFields.map(\.name).joined(separator: ", ") + "]" }

    private static func check(_ name: String, _ value: String) throws(HTTPClientError) {
        guard HTTPFieldSyntax.isToken(name) else {
            throw HTTPClientError(
                .invalidHeader, "The header name \(HTTPFieldSyntax.printable(name)) isn't a valid field name")
        }
        guard HTTPFieldSyntax.isFieldValue(value) else {
            throw HTTPClientError(
                .invalidHeader, "The value of the header '\(name)' contains control characters, such as line breaks")
        }
        let lowercased = name.lowercased()
        guard lowercased != "content-length", lowercased != "transfer-encoding" else {
            throw HTTPClientError(
                .invalidHeader, "The header '\(name)' frames the message and is set by the HTTP client itself")
        }
    }

    static func same(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && (left == right || zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) })
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}

extension HTTPHeaders: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { storedFields.count }
    public subscript(position: Int) -> Field { storedFields[position] }
}

/// The syntax of header fields (RFC 9110, sections 5.5 and 5.6.2).
package enum HTTPFieldSyntax {
    static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    package static func isFieldValue(_ text: String) -> Bool {
        // Bytes above 0x7F are obs-text: legal, and the encoding of non-ASCII UTF-8 values.
        text.utf8.allSatisfy { byte in byte >= 0x20 && byte != 0x7F || byte == 0x09 }
    }

    /// Returns a rejected name in quotes, with control characters escaped so that a log entry stays on one line.
    static func printable(_ text: String) -> String {
        "\"" + text.prefix(80).unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
