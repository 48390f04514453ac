/// The rules for the names of query parameters (JSON:API 1.1, "Query Parameters").
enum ParameterName {
    /// Whether a request may have a parameter of this name: of a family of the specification's, of an extension, or of an implementation, whose names
    /// hold another character than a to z.
    static func isAllowed(_ name: String) -> Bool {
        let base = name.prefix { $0 != "[" }
        guard areKeys(name[base.endIndex...]) else { return false }
        if ["include", "fields", "sort", "filter", "page"].contains(base) || MemberName.isExtension(String(base)) { return true }
        return MemberName.isAllowed(String(base)) && !base.utf8.allSatisfy { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
    }

    /// Whether a text is a row of brackets, each around nothing or names of members with dots between them.
    private static func areKeys(_ text: Substring) -> Bool {
        var rest = text
        while rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return false }
            let key = rest[rest.index(after: rest.startIndex)..<end]
            guard
                key.isEmpty || key.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ MemberName.isAllowed(String($0)) })
            else { return false }
            rest = rest[rest.index(after: end)...]
        }
        return rest.isEmpty
    }
}
