extension JSONValue {
    /// Creates JSON from a model or any other encodable value.
    /// - Parameters:
    ///   - value: The value.
    ///   - coding: The format of dates, data and names.
    /// - Throws: `EncodingError`, and any error of the value's `encode(to:)`.
    public init(encoding value: some Encodable, with coding: any JSONCodec = CodingOptions()) throws {
        self = try coding.encode(value)
    }

    /// Decodes the value into a model: `try json.decode(Message.self)`.
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - coding: The format of dates, data and names.
    /// - Throws: `DecodingError`, and any error of the model's `init(from:)`.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self, with coding: any JSONCodec = CodingOptions()) throws -> Model {
        try coding.decode(type, from: self)
    }
}
