/// The rules for the names of members (JSON:API 1.1, "Member Names") and of query parameters ("Query Parameters").
enum MemberName {
    /// Returns whether an implementation may use a name for an attribute, a relationship, or in `meta`.
    static func isAllowed(_ name: some StringProtocol) -> Bool {
        guard let first = name.unicodeScalars.first, let last = name.unicodeScalars.last else { return false }
        return isAlwaysAllowed(first) && isAlwaysAllowed(last)
            && name.unicodeScalars.allSatisfy { isAlwaysAllowed($0) || "-_ ".unicodeScalars.contains($0) }
    }

    /// Returns whether a name belongs to an extension, such as `atomic:operations`.
    static func isExtension(_ name: some StringProtocol) -> Bool {
        guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let namespace = name[..<colon]
        return !namespace.isEmpty && namespace.utf8.allSatisfy(isLetterOrDigit)
            && isAllowed(name[name.index(after: colon)...])
    }

    /// Returns whether readers ignore a name everywhere.
    static func isAtMember(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "@") }

    /// Returns whether a request may have a query parameter with this name.
    ///
    /// The specification allows its own families, those of extensions, and names chosen by an implementation that
    /// contain a character other than a to z.
    static func isAllowedParameter(_ name: String) -> Bool {
        let base = name.prefix { $0 != "[" }
        guard areKeys(name[base.endIndex...]) else { return false }
        if ["include", "fields", "sort", "filter", "page"].contains(base) || isExtension(base) { return true }
        return isAllowed(base) && !base.utf8.allSatisfy { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
    }

    /// Returns whether a text is a sequence of brackets, each empty or containing member names separated by dots.
    private static func areKeys(_ text: Substring) -> Bool {
        guard text.first == "[" else { return text.isEmpty }
        guard let end = text.firstIndex(of: "]") else { return false }
        let names = text[..<end].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        return (names == [""] || names.allSatisfy { isAllowed($0) }) && areKeys(text[text.index(after: end)...])
    }

    private static func isAlwaysAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x80 || UInt8(exactly: scalar.value).map(isLetterOrDigit) ?? false
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
