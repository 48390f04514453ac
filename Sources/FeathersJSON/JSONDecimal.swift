/// A JSON number with more digits, or a larger exponent, than an `Int64` or a `Double` keeps, as its text.
///
/// Two values are equal if their numbers are equal, such as `12345678901234567890.5` and `123456789012345678905e-1`.
public struct JSONDecimal: Sendable {
    /// The number as the sender wrote it.
    public let text: String

    /// - Parameter text: A JSON number that neither `.integer` nor `.number` holds exactly.
    init(text: String) { self.text = text }
}

extension JSONDecimal: Hashable, CustomStringConvertible {
    public static func == (left: JSONDecimal, right: JSONDecimal) -> Bool {
        left.text.isExactly(right.text) || DecimalDigits.order(of: left.text, to: right.text) == 0
    }

    public func hash(into hasher: inout Hasher) {
        DecimalDigits.read(text) { number in
            hasher.combine(number.isNegative)
            hasher.combine(number.point)
            hasher.combine(bytes: UnsafeRawBufferPointer(number.digits))
        }
    }

    /// The number's text.
    public var description: String { text }
}
