/// The format of a model's property names in JSON.
///
/// The format applies to the properties of models, not to data: the keys of a `[String: Value]`, a ``JSONObject``, or a
/// ``JSONValue`` do not change.
///
/// Decoding looks for the key that encoding would write, so names survive a round trip: `imageURL` is `image_url`. If
/// that key is missing, decoding looks for a key that converts to the property's name, such as `image_URL`.
public enum JSONKeyFormat: Sendable {
    /// The names as they are.
    case asIs
    /// `snake_case` in JSON, `camelCase` in the model.
    case snakeCase
    /// `camelCase` in JSON, `snake_case` in the model.
    case camelCase
    /// Your own format: from a property to its JSON key, and from a JSON key back to the property.
    case custom(encode: @Sendable (String) -> String, decode: @Sendable (String) -> String)

    var converts: Bool {
        if case .asIs = self { false } else { true }
    }

    package func key(of property: String) -> String {
        switch self {
        case .asIs: property
        case .snakeCase: KeyCasing.snakeCase(property)
        case .camelCase: KeyCasing.camelCase(property)
        case .custom(let encode, _): encode(property)
        }
    }

    func property(of key: String) -> String {
        switch self {
        case .asIs: key
        case .snakeCase: KeyCasing.camelCase(key)
        case .camelCase: KeyCasing.snakeCase(key)
        case .custom(_, let decode): decode(key)
        }
    }
}

/// Converts names between snake case and camel case as Foundation's JSON coders do, but treats a leading acronym as one
/// word.
enum KeyCasing {
    /// Converts `imageURLPath` to `image_url_path`. Existing underscores are kept.
    static func snakeCase(_ name: String) -> String {
        let letters = Array(name)
        var result = ""
        result.reserveCapacity(letters.count + 4)
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0, letters[index - 1] != "_" {
                let startsWord = !letters[index - 1].isUppercase
                // The last of several capitals begins the next word, like the P in URLPath.
                let endsAcronym = index + 1 < letters.count && letters[index + 1].isLowercase
                if startsWord || endsAcronym { result.append("_") }
            }
            result += letter.lowercased()
        }
        return result
    }

    /// Converts `image_url_path` to `imageUrlPath`. Leading and trailing underscores are kept.
    static func camelCase(_ name: String) -> String {
        let inner = name.drop { $0 == "_" }
        let leading = name.prefix { $0 == "_" }
        let trailing = inner.reversed().prefix { $0 == "_" }
        let words = inner.dropLast(trailing.count).split(separator: "_")
        guard words.count > 1 else { return name }
        let joined = words.dropFirst().reduce(words[0].lowercased()) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst().lowercased()
        }
        return leading + joined + String(trailing)
    }
}

/// A cache of the keys of properties during one encoding or decoding, because the records of a list share the same few.
final class CodedKeys {
    private let format: JSONKeyFormat
    private var keys: [String: String] = [:]

    init(_ format: JSONKeyFormat) { self.format = format }

    func key(of property: String) -> String {
        if let key = keys[property] { return key }
        let key = format.key(of: property)
        keys[property] = key
        return key
    }

    func property(of key: String) -> String { format.property(of: key) }
}

/// A dictionary whose keys are data, not property names.
protocol DictionaryOfStrings {}

extension Dictionary: DictionaryOfStrings where Key == String {}
