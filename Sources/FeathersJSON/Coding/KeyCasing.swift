/// Turns names from one way of joining words into the other, as Foundation's JSON coders do; but a leading acronym is one word.
enum KeyCasing {
    /// `imageURLPath` as `image_url_path`; underscores stay where they are.
    static func snakeCase(_ name: String) -> String {
        let letters = Array(name)
        var result = ""
        result.reserveCapacity(letters.count + 4)
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0, letters[index - 1] != "_" {
                let startsWord = !letters[index - 1].isUppercase
                // The last capital of several begins the next word: the P of URLPath.
                let endsAcronym = index + 1 < letters.count && letters[index + 1].isLowercase
                if startsWord || endsAcronym { result.append("_") }
            }
            result += letter.lowercased()
        }
        return result
    }

    /// `image_url_path` as `imageUrlPath`; underscores at both ends stay where they are.
    static func camelCase(_ name: String) -> String {
        let inner = name.drop { $0 == "_" }
        let leading = name.prefix { $0 == "_" }
        let trailing = inner.reversed().prefix { $0 == "_" }
        let words = inner.dropLast(trailing.count).split(separator: "_")
        guard words.count > 1 else { return name }
        let joined = words.dropFirst().reduce(words[0].lowercased()) { $0 + $1.prefix(1).uppercased() + $1.dropFirst().lowercased() }
        return leading + joined + String(trailing)
    }
}
