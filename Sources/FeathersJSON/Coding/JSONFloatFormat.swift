/// How numbers stand in JSON that JSON has no numbers for: infinities and NaN.
public enum JSONFloatFormat: Sendable {
    /// Not at all: encoding such a number throws, and only numbers are read as numbers.
    case refused
    /// As null, which is how JavaScript's `JSON.stringify` writes all three; null is read as NaN.
    case null
    /// As these strings.
    case strings(positiveInfinity: String, negativeInfinity: String, nan: String)
}

extension JSONFloatFormat {
    /// The JSON of a number that is not finite; nil where it is refused.
    func json(of number: Double) -> JSONValue? {
        switch self {
        case .refused: nil
        case .null: .null
        case .strings(let positiveInfinity, let negativeInfinity, let nan):
            .string(number.isNaN ? nan : number > 0 ? positiveInfinity : negativeInfinity)
        }
    }

    /// The number that is not finite behind a JSON value; nil where it is none.
    func number(in value: JSONValue) -> Double? {
        switch (self, value) {
        case (.null, .null): .nan
        case (.strings(let positiveInfinity, let negativeInfinity, let nan), .string(let text)):
            text == positiveInfinity ? .infinity : text == negativeInfinity ? -.infinity : text == nan ? .nan : nil
        default: nil
        }
    }
}
