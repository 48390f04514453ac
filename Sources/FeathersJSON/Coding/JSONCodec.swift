/// What turns models into JSON and JSON into models: ``CodingOptions``, or a codec of your own.
public protocol JSONCodec: Sendable {
    /// Encodes a model.
    /// - Throws: `EncodingError`, and whatever the model throws.
    func encode(_ value: some Encodable) throws -> JSONValue

    /// Decodes a model.
    /// - Throws: `DecodingError`, of which an error of the call names the coding path, and whatever the model throws.
    func decode<T: Decodable>(_ type: T.Type, from json: JSONValue) throws -> T
}
