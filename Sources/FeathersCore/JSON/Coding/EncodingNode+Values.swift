#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        guard double.isFinite else { throw invalid(double, "JSON has no \(double).", at: step()) }
        return .number(double)
    }

    func float(_ float: Float, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        guard float.isFinite else { throw invalid(float, "JSON has no \(float).", at: step()) }
        // The digits of the Float, not those of its binary expansion: 0.1 and not 0.10000000149011612.
        return .number(float.rounded() == float ? Double(float) : Double(float.description) ?? Double(float))
    }

    /// Anything else: the types JSON treats specially, or a model that encodes itself.
    func encode<T: Encodable>(_ value: T, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue {
        if let special = try encodeSpecial(value, at: step()) { return special }
        let node = EncodingNode(parent: self, step: step())
        try value.encode(to: node)
        // A model without properties is an object without keys.
        return try node.finish() ?? .object([:])
    }

    /// Encodes a value into this very node.
    func encodeWhole<T: Encodable>(_ value: T) throws -> JSONValue? {
        if let special = try encodeSpecial(value, at: .root) { return special }
        try value.encode(to: self)
        return try finish()
    }

    @inline(__always)
    private func encodeSpecial<T>(_ value: T, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue? {
        switch SpecialType(T.self) {
        case .none: nil
        case .jsonValue: value as? JSONValue
        case .jsonObject: (value as? JSONObject).map(JSONValue.object)
        case .date: try (value as? Date).map { try date($0, at: step()) }
        case .url: (value as? URL).map { .string($0.absoluteString) }
        case .data: (value as? Data).map { .string($0.base64EncodedString()) }
        case .decimal: try (value as? Decimal).map { try decimal($0, at: step()) }
        }
    }

    private func date(_ date: Date, at step: CodingPathStep) throws -> JSONValue {
        switch options.dateFormat {
        case .iso8601:
            guard let text = ISO8601Timestamp(milliseconds: date.timeIntervalSince1970 * 1000).text else {
                throw invalid(date, "The date is out of the range of JavaScript's dates.", at: step)
            }
            return .string(text)
        case .millisecondsSince1970: return try double(date.timeIntervalSince1970 * 1000, at: step)
        case .secondsSince1970: return try double(date.timeIntervalSince1970, at: step)
        }
    }

    private func decimal(_ decimal: Decimal, at step: CodingPathStep) throws -> JSONValue {
        let text = decimal.description
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite, Decimal(string: number.description) == decimal else {
            throw invalid(decimal, "A JSON number could not keep this decimal exactly; encode it as a string.", at: step)
        }
        return .number(number)
    }

    private func invalid(_ value: Any, _ description: String, at step: CodingPathStep) -> EncodingError {
        let path = step.codingKey.map { codingPath + [$0] } ?? codingPath
        return .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: description))
    }
}
