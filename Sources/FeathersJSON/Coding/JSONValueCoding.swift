extension JSONValue {
    /// Creates JSON by encoding a model or any other encodable value.
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - coding: The format of dates, data, and names.
    /// - Throws: `EncodingError`, or any error from the value's `encode(to:)`.
    public init(encoding value: some Encodable, with coding: any JSONCodec = CodingOptions()) throws {
        self = try coding.encode(value)
    }

    /// Decodes a model from the value: `try json.decode(Message.self)`.
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - coding: The format of dates, data, and names.
    /// - Throws: `DecodingError`, or any error from the model's `init(from:)`.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self, with coding: any JSONCodec = CodingOptions()) throws -> Model {
        try coding.decode(type, from: self)
    }
}
