/// How a model's property names stand in JSON.
///
/// Properties of models are meant, not data: the keys of a `[String: Value]`, of ``JSONObject`` and of ``JSONValue`` stay as they are.
///
/// A property is looked for under the key it would be written with, so that what one side writes the other reads: `imageURL` as `image_url`
/// both ways. A key that is written differently (`image_URL`) is found by what it reads as.
public enum JSONKeyFormat: Sendable {
    /// As they are.
    case asIs
    /// `snake_case` in JSON, `camelCase` in the model.
    case snakeCase
    /// `camelCase` in JSON, `snake_case` in the model.
    case camelCase
    /// A form of your own: the JSON key of a property, and the property of a JSON key.
    case custom(encode: @Sendable (String) -> String, decode: @Sendable (String) -> String)
}

extension JSONKeyFormat {
    /// Whether property and key may differ.
    var converts: Bool {
        if case .asIs = self { false } else { true }
    }

    /// The key of a property.
    package func key(of property: String) -> String {
        switch self {
        case .asIs: property
        case .snakeCase: KeyCasing.snakeCase(property)
        case .camelCase: KeyCasing.camelCase(property)
        case .custom(let encode, _): encode(property)
        }
    }

    /// The property of a key.
    func property(of key: String) -> String {
        switch self {
        case .asIs: key
        case .snakeCase: KeyCasing.camelCase(key)
        case .camelCase: KeyCasing.snakeCase(key)
        case .custom(_, let decode): decode(key)
        }
    }
}
