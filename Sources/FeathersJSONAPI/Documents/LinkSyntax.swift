/// The syntax of the parts of links: URLs, relation types, and language tags.
enum LinkSyntax {
    /// Returns whether a text is a URI reference (RFC 3986, section 4.1), that is, an absolute or relative URL.
    ///
    /// Brackets may be unencoded, as in the specification's own examples: `page[number]=2`.
    static func isReference(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.count, isHexDigit(bytes[index + 1]), isHexDigit(bytes[index + 2]) else { return false }
            case UInt8(ascii: "#"): if index != fragment { return false }
            default: if !MemberName.isLetterOrDigit(byte), !"-._~:/?[]@!$&'()*+,;=".utf8.contains(byte) { return false }
            }
        }
        // A colon in the first segment ends a scheme.
        let first = bytes.prefix { !"/?#".utf8.contains($0) }
        return first.firstIndex(of: UInt8(ascii: ":")).map { isScheme(first[..<$0]) } ?? true
    }

    /// Returns whether a text is a URI (RFC 3986, section 3), which begins with a scheme.
    static func isURI(_ text: String) -> Bool {
        isReference(text) && text.utf8.prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: ":"))
    }

    /// Returns whether a text is a link relation type (RFC 8288, section 3.3): a registered name, such as `next`, or a URI.
    static func isRelationType(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLowercase(first) else { return isURI(text) }
        return isURI(text) || text.utf8.allSatisfy { isLowercase($0) || isDigit($0) || ".-".utf8.contains($0) }
    }

    /// Returns whether a text has the form of a language tag (RFC 5646, section 2.1), such as `en` or `pt-BR`.
    static func isLanguageTag(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let primary = parts.first, !primary.contains(where: isDigit) else { return false }
        return parts.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy(MemberName.isLetterOrDigit) }
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, MemberName.isLetterOrDigit(first), !isDigit(first) else { return false }
        return bytes.allSatisfy { MemberName.isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    }

    private static func isLowercase(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "f"))
    }
}
