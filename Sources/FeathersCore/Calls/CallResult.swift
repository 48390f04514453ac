/// What a call came to: a value, or the text that says it, which nobody has read yet.
package enum CallResult: Sendable {
    case value(JSONValue)
    case text(JSONTape)

    package var json: JSONValue {
        switch self {
        case .value(let value): value
        case .text(let text): text.json
        }
    }

    /// Makes a model of what stands at the end of root keys: of a text without a tree in between, where no codec of the app's own wants one.
    /// - Throws: ``MissingRootKey``, and what the codec throws.
    package func decode<Model: Decodable>(_ type: Model.Type, at rootKeys: [RootKey], _ codec: any JSONCodec) throws -> Model {
        if rootKeys.isEmpty, case .text(let text) = self, let options = codec as? CodingOptions {
            return try JSONValueDecoder(options).decode(type, from: text)
        }
        return try codec.decode(type, from: json.unwrapped(by: rootKeys))
    }
}
