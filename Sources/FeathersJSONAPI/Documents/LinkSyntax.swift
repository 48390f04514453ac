/// The syntax of the parts of links: URLs, relation types, and language tags.
enum LinkSyntax {
    /// Returns whether a text is a URI reference (RFC 3986, section 4.1), that is, an absolute or relative URL.
    ///
    /// Brackets may be unencoded, as in the specification's own examples: `page[number]=2`.
    static func isReference(_ text: String) -> Bool {
        let escapes = text.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false).dropFirst()
        guard escapes.allSatisfy({ $0.prefix(2).count == 2 && $0.prefix(2).allSatisfy(isHexDigit) }),
            text.utf8.allSatisfy({ MemberName.isLetterOrDigit($0) || "%-._~:/?#[]@!$&'()*+,;=".utf8.contains($0) }),
            text.utf8.count(where: { $0 == UInt8(ascii: "#") }) <= 1
        else { return false }
        // A colon in the first segment ends a scheme.
        guard hasScheme(text), let scheme = text.split(separator: ":", omittingEmptySubsequences: false).first else {
            return true
        }
        return scheme.first?.isLetter == true
            && scheme.utf8.allSatisfy { MemberName.isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    }

    /// Returns whether a text is a URI (RFC 3986, section 3), which begins with a scheme.
    static func isURI(_ text: String) -> Bool { isReference(text) && hasScheme(text) }

    /// Returns whether a text is a link relation type (RFC 8288, section 3.3): a registered name, such as `next`, or a
    /// URI.
    static func isRelationType(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLowercase(first) else { return isURI(text) }
        return isURI(text) || text.utf8.allSatisfy { isLowercase($0) || isDigit($0) || ".-".utf8.contains($0) }
    }

    /// Returns whether a text has the form of a language tag (RFC 5646, section 2.1), such as `en` or `pt-BR`.
    static func isLanguageTag(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.first?.contains(where: isDigit) == false
            && parts.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy(MemberName.isLetterOrDigit) }
    }

    private static func hasScheme(_ text: String) -> Bool {
        text.utf8.first { ":/?#".utf8.contains($0) } == UInt8(ascii: ":")
    }
    private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
