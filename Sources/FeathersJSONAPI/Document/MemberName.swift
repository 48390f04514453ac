/// The rules for the names of members (JSON:API 1.1, "Member Names").
enum MemberName {
    /// Whether an implementation may use a name for an attribute, a relationship or in `meta`.
    static func isAllowed(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, let last = name.unicodeScalars.last else { return false }
        return isAlwaysAllowed(first) && isAlwaysAllowed(last)
            && name.unicodeScalars.allSatisfy { isAlwaysAllowed($0) || "-_ ".unicodeScalars.contains($0) }
    }

    /// Whether a name is an extension's, such as `atomic:operations`.
    static func isExtension(_ name: String) -> Bool {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let namespace = name[..<colon]
        return !namespace.isEmpty && namespace.utf8.allSatisfy(isLetterOrDigit) && isAllowed(String(name[name.index(after: colon)...]))
    }

    /// Whether a name is one of those that a reader ignores wherever it meets them.
    static func isAtMember(_ name: String) -> Bool {
        name.utf8.first == UInt8(ascii: "@")
    }

    private static func isAlwaysAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x80 || UInt8(exactly: scalar.value).map(isLetterOrDigit) ?? false
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}
