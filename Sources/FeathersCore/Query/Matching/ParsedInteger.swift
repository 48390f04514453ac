/// A number as JavaScript's `parseInt(value, 10)` reads it: what FeathersJS does with `$limit`, `$skip` and `$sort`, which
/// are strings over REST.
struct ParsedInteger {
    /// The number; nil where there is none to read.
    let value: Int?

    init(_ json: JSONValue) {
        switch json {
        case .integer(let integer): value = Int(clamping: integer)
        case .number(let number): value = Int(exactly: number.rounded(.towardZero))
        case .string(let string): value = Self.leadingInteger(of: string)
        case .null, .bool, .array, .object: value = nil
        }
    }

    /// The digits a text starts with, after spaces and a sign; saturated where they exceed `Int`.
    private static func leadingInteger(of text: String) -> Int? {
        var digits = text.utf8.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        digits = digits.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty, let text = String(digits) else { return nil }
        let magnitude = Int(text) ?? .max
        return isNegative ? -magnitude : magnitude
    }
}
