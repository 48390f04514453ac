/// The values of `params.route`, which take the place of a path's `:placeholders`.
package enum RouteValue {
    /// Returns the name of the placeholder that a segment of a path is; nil if it is none.
    package static func placeholder(_ segment: some StringProtocol) -> String? {
        guard segment.utf8.first == UInt8(ascii: ":"), segment.utf8.count > 1 else { return nil }
        return String(decoding: segment.utf8.dropFirst(), as: UTF8.self)
    }

    /// Returns the value of a placeholder.
    /// - Throws: ``FeathersError/Code/badRequest`` if the route has no value.
    package static func value(
        of placeholder: String, in route: [String: String], path: String
    ) throws(FeathersError) -> String {
        guard let value = route[placeholder] else {
            throw .refused("The path '\(path)' requires a value for ':\(placeholder)' in params.route")
        }
        return value
    }

    /// Returns the value of a placeholder of a service's path, which a transport sends as one segment.
    ///
    /// Only a value that is one segment for every server and proxy is sent: FeathersJS does not decode the paths of
    /// calls, and others decode them once or twice.
    /// - Throws: ``FeathersError/Code/badRequest`` if the route has no value, or one that would lead to another path:
    ///   an empty one, `.`, `..`, or one with a slash, a backslash or a control character, percent-encoded or not.
    package static func segment(
        of placeholder: String, in route: [String: String], path: String
    ) throws(FeathersError) -> String {
        let value = try value(of: placeholder, in: route, path: path)
        let bytes = decodingEscapes(value.utf8)
        func refused(_ reason: String) -> FeathersError {
            .refused("The value of ':\(placeholder)' in params.route \(reason), which would lead to another path")
        }
        if bytes.isEmpty { throw refused("is empty") }
        if bytes == Array(".".utf8) || bytes == Array("..".utf8) {
            throw refused("is '\(String(decoding: bytes, as: UTF8.self))'")
        }
        if bytes.contains(UInt8(ascii: "/")) { throw refused("contains a slash") }
        if bytes.contains(UInt8(ascii: "\\")) { throw refused("contains a backslash") }
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw refused("contains a control character") }
        return value
    }

    /// Returns the bytes of a text with `%XX` decoded.
    private static func decodingEscapes(_ text: String.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(UInt8(digits[0] * 16 + digits[1]))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
