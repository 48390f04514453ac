/// JSON that arrived: parsed, or still text for a caller that decodes a model from it.
package enum JSONBody: Sendable {
    case tree(JSONValue)
    /// Text that was validated on arrival. Models are decoded from it without building a tree.
    case tape(JSONTape)
    /// A response in a format of its transport.
    case deferred(any DeferredResult)

    /// - Parameters:
    ///   - text: the whole text in UTF-8.
    ///   - keepsText: whether to keep the text for a caller that decodes a model from it.
    /// - Throws: `JSONParsingError` if the bytes are not valid JSON.
    package init(parsing text: UnsafeBufferPointer<UInt8>, keepsText: Bool) throws(JSONParsingError) {
        if keepsText, let tape = try JSONTape.marking(text) {
            self = .tape(tape)
        } else {
            self = .tree(try JSONValue(parsing: text))
        }
    }

    /// The value. A text is parsed on first access.
    package var json: JSONValue {
        switch self {
        case .tree(let value): value
        case .tape(let tape): tape.json
        case .deferred(let result): result.json
        }
    }

    package func decode<Model: Decodable>(_ type: Model.Type, _ codec: any JSONCodec) throws -> Model {
        switch (self, codec as? CodingOptions) {
        case (.tape(let tape), let options?): try JSONValueDecoder(options).decode(type, from: tape)
        default: try codec.decode(type, from: json)
        }
    }
}

/// A result in a format of its transport, for a caller that decodes models from that.
///
/// A class, so that a response is no larger for it.
package protocol DeferredResult: AnyObject, Sendable {
    /// The result as JSON, created on first access.
    var json: JSONValue { get }
}
