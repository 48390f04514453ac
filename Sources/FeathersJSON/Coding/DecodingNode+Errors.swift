extension DecodingNode {
    /// The error for a value of another kind than `type` needs; null is told apart as "no value".
    func mismatch(_ type: any Any.Type, _ source: DecodingSource, at step: CodingPathStep) -> DecodingError {
        let path = path(to: step)
        if source.isNull {
            return .valueNotFound(
                type, DecodingError.Context(codingPath: path, debugDescription: "Expected \(type) but found null instead."))
        }
        return .typeMismatch(
            type, DecodingError.Context(codingPath: path, debugDescription: "Expected \(type) but found \(source.kindName) instead."))
    }

    /// The error for a value of the right kind that does not fit.
    func corrupted(_ description: String, at step: CodingPathStep) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: path(to: step), debugDescription: description))
    }
}

extension JSONValue {
    /// What kind of value this is, for messages that must not show the value itself.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
