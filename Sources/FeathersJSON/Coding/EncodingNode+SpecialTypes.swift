#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The types whose JSON form the options say, or JSON's users agree on.
extension EncodingNode {
    @inline(__always)
    func encodeSpecial<T>(_ value: T, at step: @autoclosure () -> CodingPathStep) throws -> JSONValue? {
        switch SpecialType(T.self) {
        case .none: nil
        case .jsonValue: value as? JSONValue
        case .jsonObject: (value as? JSONObject).map(JSONValue.object)
        case .date: try (value as? Date).map { try date($0, at: step()) }
        case .url: (value as? URL).map { .string($0.absoluteString) }
        case .data: try (value as? Data).map { try data($0, at: step()) }
        case .decimal: try (value as? Decimal).map { try decimal($0, at: step()) }
        }
    }

    private func date(_ date: Date, at step: CodingPathStep) throws -> JSONValue {
        switch options.coding.dates {
        case .iso8601: return try timestamp(of: date, hasFraction: true, at: step)
        case .iso8601WithoutFraction: return try timestamp(of: date, hasFraction: false, at: step)
        case .millisecondsSince1970: return try double(date.timeIntervalSince1970 * 1000, at: step)
        case .secondsSince1970: return try double(date.timeIntervalSince1970, at: step)
        case .custom(let encode, _): return try custom(encode, date, at: step)
        }
    }

    private func timestamp(of date: Date, hasFraction: Bool, at step: CodingPathStep) throws -> JSONValue {
        guard let text = ISO8601Timestamp(milliseconds: date.timeIntervalSince1970 * 1000).text(hasFraction: hasFraction) else {
            throw invalid(date, "The date is out of the range of JavaScript's dates.", at: step)
        }
        return .string(text)
    }

    private func data(_ data: Data, at step: CodingPathStep) throws -> JSONValue {
        switch options.coding.data {
        case .base64: .string(data.base64EncodedString())
        case .custom(let encode, _): try custom(encode, data, at: step)
        }
    }

    /// What a format of the app's own writes; its failure gets the coding path it cannot know.
    private func custom<T>(_ encode: (T) throws -> JSONValue, _ value: T, at step: CodingPathStep) throws -> JSONValue {
        do {
            return try encode(value)
        } catch {
            let path = step.codingKey.map { codingPath + [$0] } ?? codingPath
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: path, debugDescription: "The custom format does not write \(T.self).", underlyingError: error)
            )
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
}
