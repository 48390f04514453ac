/// Names that follow Swift's API design guidelines, derived from the names on a server.
enum SwiftNames {
    /// The name of a property or an enumeration's case: `createdAt` of `created_at`, `userID` of `userId`.
    static func property(_ name: String) -> String {
        let words = words(name)
        guard let first = words.first else { return "" }
        return started(first.lowercased() + words.dropFirst().map(capitalized).joined())
    }

    /// The name of a type: `CreatedAt` of `created_at`.
    static func type(_ name: String) -> String {
        let joined = words(name).map(capitalized).joined()
        return joined.isEmpty || begins(joined) ? joined : "Type" + joined
    }

    /// Returns a name as it can be declared, which takes backticks for a keyword.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    static func isIdentifier(_ name: String) -> Bool {
        name != "_" && begins(name) && name.unicodeScalars.allSatisfy(isPart)
    }

    /// Whether a name begins with a valid character. Digits and combining marks are valid only after other characters.
    private static func begins(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first else { return false }
        return !(0x30...0x39).contains(first.value) && !(0x1DC0...0x1DFF).contains(first.value)
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        case 0xC0...0x2FF, 0x370...0x1FFF, 0x3040...0xD7FF: scalar.properties.isAlphabetic
        default: false
        }
    }

    private static func started(_ name: String) -> String {
        begins(name) ? name : "value" + name
    }

    /// The words of a name, which begin at separators and at capitals: `HTTPServer_port` has three.
    static func words(_ name: String) -> [String] {
        if let words = asciiWords(name) { return words }
        var (words, word) = ([String](), [Character]())
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            guard character != "_", character.unicodeScalars.allSatisfy(isPart) else {
                if !word.isEmpty { words.append(String(word)) }
                word = []
                continue
            }
            if character.isUppercase, let last = word.last {
                let next = index + 1 < characters.count ? characters[index + 1] : nil
                if !last.isUppercase || next?.isLowercase == true {
                    words.append(String(word))
                    word = []
                }
            }
            word.append(character)
        }
        return word.isEmpty ? words : words + [String(word)]
    }

    /// Returns the words of a name of ASCII characters; nil for other names. Names can be long, and there can be many.
    private static func asciiWords(_ name: String) -> [String]? {
        var name = name
        return name.withUTF8 { bytes -> [String]? in
            var words: [String] = []
            var start = 0
            func isUpper(_ byte: UInt8) -> Bool { byte >= 0x41 && byte <= 0x5A }
            func isLower(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7A }
            func endWord(_ end: Int) {
                if start < end { words.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
            }
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if byte >= 0x80 { return nil }
                if isUpper(byte) {
                    let isNext = index + 1 < bytes.count && isLower(bytes[index + 1])
                    if index > start, !isUpper(bytes[index - 1]) || isNext {
                        endWord(index)
                        start = index
                    }
                } else if !isLower(byte), byte < 0x30 || byte > 0x39 {
                    endWord(index)
                    start = index + 1
                }
                index += 1
            }
            endWord(bytes.count)
            return words
        }
    }

    private static let acronyms: Set<String> = [
        "id", "url", "uri", "uuid", "html", "http", "https", "json", "api", "ip", "ssl", "tls", "css", "xml", "sql",
        "pdf", "csv", "utc",
    ]

    private static func capitalized(_ word: String) -> String {
        let lower = word.lowercased()
        if acronyms.contains(lower) { return lower.uppercased() }
        if lower.hasSuffix("s"), acronyms.contains(String(lower.dropLast())) {
            return lower.dropLast().uppercased() + "s"
        }
        return lower.prefix(1).uppercased() + lower.dropFirst()
    }

    /// Returns the singular of a word: `message` for `messages`.
    static func singular(_ name: String) -> String {
        let lower = name.lowercased()
        for (plural, singular) in irregular where lower.hasSuffix(plural) {
            // Only whole words count: `women` ends with `men`, but is another word.
            let kept = name.dropLast(plural.count)
            guard kept.last?.isLetter != true || name.dropFirst(kept.count).first?.isUppercase == true else { continue }
            let isCapital = name.dropFirst(kept.count).first?.isUppercase == true
            return kept + (isCapital ? singular.prefix(1).uppercased() + singular.dropFirst() : singular)
        }
        if lower.hasSuffix("ies"), lower.count > 4 { return name.dropLast(3) + "y" }
        if ["sses", "shes", "ches", "xes", "zzes"].contains(where: lower.hasSuffix) { return String(name.dropLast(2)) }
        if ["ss", "us", "is"].contains(where: lower.hasSuffix) || !lower.hasSuffix("s") || lower.count < 3 {
            return name
        }
        return String(name.dropLast())
    }

    /// Returns the plural of a word: `categories` for `category`.
    static func plural(_ name: String) -> String {
        if let (plural, singular) = irregular.first(where: { $0.1 == name }), plural != singular { return plural }
        if name.hasSuffix("y"), !["ay", "ey", "oy", "uy"].contains(where: name.hasSuffix) {
            return name.dropLast() + "ies"
        }
        return name + (["s", "x", "z", "sh", "ch"].contains(where: name.hasSuffix) ? "es" : "s")
    }

    private static let irregular = [
        ("people", "person"), ("children", "child"), ("men", "man"), ("women", "woman"), ("statuses", "status"),
        ("buses", "bus"),
        ("aliases", "alias"), ("bonuses", "bonus"), ("viruses", "virus"), ("campuses", "campus"),
        ("analyses", "analysis"),
        ("news", "news"), ("series", "series"), ("species", "species"), ("movies", "movie"), ("cookies", "cookie"),
        ("quizzes", "quiz"),
        ("addresses", "address"), ("indices", "index"), ("leaves", "leaf"), ("lives", "life"), ("data", "data"),
        ("media", "media"),
    ]

    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "inout", "internal",
        "let", "operator",
        "private", "precedencegroup", "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias",
        "var", "break",
        "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in",
        "repeat", "return",
        "throw", "switch", "where", "while", "as", "await", "false", "is", "nil", "super", "throws", "true", "try",
    ]

    /// Names of properties that have a meaning of their own in every type.
    static let takenMembers: Set<String> = ["self", "init", "hashValue", "Any", "Self", "Type", "Protocol"]
    /// Names that no property has: those with a meaning of their own, and those of types that generated code uses.
    static let takenProperties = takenMembers.union(takenTypes)
    /// Names of cases that have a meaning of their own, or that every generated enumeration has.
    static let takenCases: Set<String> = takenMembers.union(["rawValue", "unknown"])

    /// Names of types that generated code uses in their short form, or that would hide those of `Feathers`.
    static let takenTypes: Set<String> = [
        "Any", "Array", "Bool", "Character", "Codable", "CodingKey", "CodingKeys", "CreateData", "Data", "Date",
        "Decodable",
        "Decoder", "DecodingError", "Dictionary", "Double", "Encodable", "Encoder", "Error", "Float", "Hashable", "ID",
        "Identifiable", "Indirect", "Int", "Int32", "Int64", "JSONValue", "Never", "Nullable", "Optional", "PatchData",
        "Presence",
        "Protocol", "QueryKeys", "QueryValue", "RawRepresentable", "RawValue", "Result", "Self", "Sendable",
        "ServiceDefinition",
        "ServiceModel", "ServiceValue", "Set", "String", "Task", "Type", "URL", "UUID", "Void",
        "AuthenticationOptions", "Endpoint", "EventName", "FeathersApp", "FeathersError", "Health", "Hook", "Hooks",
        "Identity",
        "LiveQuery", "Outbox", "Page", "Pages", "Params", "Query", "QueryCondition", "Service", "ServiceID",
        "ServiceMethod",
        "SortDirection", "Transport",
        "Relation", "ToMany", "ToOne", "Foundation", "Feathers", "Swift",
    ]
}
