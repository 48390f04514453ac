/// Status line and fields of an HTTP/1 response, as far as the opening handshake needs them (RFC 9112).
struct HTTPResponseHead: Equatable {
    var status: Int
    var reason: String
    /// Names in lower case, in order.
    var fields: [Field]

    struct Field: Equatable {
        var name: String
        var value: String
    }

    /// Reads a head without its empty last line.
    /// - Returns: nil where it is no HTTP/1 response.
    init?(_ text: String) {
        // One scalar at a time: "\r\n" is a single Character, which must not hide in a line.
        let lines = text.unicodeScalars.split(separator: "\r\n".unicodeScalars).map(Substring.init)
        guard let first = lines.first, first.hasPrefix("HTTP/1.") else { return nil }
        let words = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].utf8.count == 8, words[1].utf8.count == 3 else { return nil }
        guard let status = Int(words[1]), status >= 100 else { return nil }
        self.status = status
        reason = words.count == 3 ? String(words[2]) : ""
        fields = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), HTTPFieldSyntax.isToken(String(line[..<colon])) else { return nil }
            let value = String(line[line.index(after: colon)...].trimmedOfBlanks)
            guard HTTPFieldSyntax.isFieldValue(value) else { return nil }
            fields.append(Field(name: line[..<colon].lowercased(), value: value))
        }
    }

    /// The elements of all fields of this name.
    func list(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { $0.value.listElements }
    }
}
