extension EncodingNode {
    @inline(__always)
    func integer<T: FixedWidthInteger>(_ integer: T, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        guard let exact = Int64(exactly: integer) else {
            throw invalid(integer, "\(integer) is beyond Int64; JSON could not keep it exactly, encode it as a string.", at: step())
        }
        return .integer(exact)
    }

    @inline(__always)
    func double(_ double: Double, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        guard double.isFinite else { return try nonFinite(double, at: step()) }
        return .number(double)
    }

    func float(_ float: Float, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        guard float.isFinite else { return try nonFinite(Double(float), at: step()) }
        // The digits of the Float, not those of its binary expansion: 0.1 and not 0.10000000149011612.
        return .number(float.rounded() == float ? Double(float) : Double(float.description) ?? Double(float))
    }

    private func nonFinite(_ number: Double, at step: CodingPathStep) throws -> JSONValue {
        guard let json = options.coding.nonConformingFloats.json(of: number) else {
            throw invalid(number, "JSON has no \(number).", at: step)
        }
        return json
    }

    /// Anything else: the types JSON treats specially, or a model that encodes itself.
    func encode<T: Encodable>(_ value: T, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        if let special = try encodeSpecial(value, at: step()) { return special }
        let node = EncodingNode(parent: self, step: step())
        if node.keys != nil, T.self is any DictionaryOfStrings.Type { node.keys = nil }
        try value.encode(to: node)
        // A model without properties is an object without keys.
        return try node.finish() ?? .object([:])
    }

    /// Encodes a value into this very node.
    func encodeWhole<T: Encodable>(_ value: T) throws -> JSONValue? {
        if let special = try encodeSpecial(value, at: .root) { return special }
        if keys != nil, T.self is any DictionaryOfStrings.Type { keys = nil }
        try value.encode(to: self)
        return try finish()
    }

    func invalid(_ value: Any, _ description: String, at step: CodingPathStep) -> EncodingError {
        let path = step.codingKey.map { codingPath + [$0] } ?? codingPath
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
    }
}
