extension JSONValue {
    /// Creates a number in the case that keeps its digits: `.number` if the text that is written for the nearest
    /// `Double` is the same number, or else `.integer` or `.decimal`.
    /// - Parameter text: A JSON number.
    package init(numberText text: String) {
        if let double = Double(text), double.isFinite, DecimalDigits.order(of: double.description, to: text) == 0 {
            self = .number(double)
        } else {
            self = DecimalDigits.read(text) { $0.integer() }.map(JSONValue.integer) ?? .decimal(JSONDecimal(text: text))
        }
    }

    /// Creates a number from an integer of any size.
    @inline(__always)
    package init(integer: some BinaryInteger) {
        self = Int64(exactly: integer).map(JSONValue.integer) ?? JSONValue(numberText: String(integer))
    }

    /// Creates a number from a `Float`'s own digits: 0.1 instead of 0.10000000149011612.
    package init(float: Float) {
        let isInteger = float.magnitude < 0x1p24 && float.rounded() == float
        self = .number(isInteger ? Double(float) : Double(float.description) ?? Double(float))
    }

    /// The value as an integer of any size, including one written as `1.0`; nil if it is not a number or does not fit.
    package func integer<T: FixedWidthInteger>(as type: T.Type = T.self) -> T? {
        switch self {
        case .integer(let integer): T(exactly: integer)
        case .number(let number): number.writtenInteger()
        case .decimal(let decimal): DecimalDigits.read(decimal.text) { $0.integer() }
        default: nil
        }
    }

    /// Compares two numbers by their digits.
    /// - Returns: A negative number, zero, or a positive number; nil if either value is not a number.
    package func numericOrder(to other: JSONValue) -> Int? {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): return left == right ? 0 : left < right ? -1 : 1
        case (.decimal, _), (_, .decimal): break
        default:
            guard let left = number, let right = other.number else { return nil }
            // Two numbers whose Doubles differ are in the same order. If they are equal, an integer may still have
            // other digits.
            guard left == right else { return left < right ? -1 : left > right ? 1 : nil }
            if left.magnitude < Double.exactIntegers || !left.isFinite { return 0 }
        }
        guard let left = numberText, let right = other.numberText else { return nil }
        return DecimalDigits.order(of: left, to: right)
    }

    private var numberText: String? {
        switch self {
        case .integer(let integer): String(integer)
        case .number(let number): number.isFinite ? number.description : nil
        case .decimal(let decimal): decimal.text
        default: nil
        }
    }
}

extension Double {
    /// Below this magnitude, every integer is a `Double`, and the digits of an integral `Double` are those of the
    /// integer.
    static let exactIntegers = 0x1p53

    /// The integer that is written for the number; nil if it has a fraction or does not fit.
    ///
    /// The `Double` nearest to 9223372036854776000 is 9223372036854775808, but the former is what was read and what is
    /// written.
    func writtenInteger<T: FixedWidthInteger>() -> T? {
        if magnitude < Self.exactIntegers { return Int64(exactly: self).flatMap(T.init(exactly:)) }
        return isFinite ? DecimalDigits.read(description) { $0.integer() } : nil
    }
}
