import FeathersJSON
import FeathersTesting

/// Any JSON values, small ones mostly, with everything in them that is easily got wrong.
struct RandomJSON {
    var random: SeededGenerator
    /// Whether there are numbers of up to 38 digits.
    var hasLongNumbers = true

    mutating func value(depth: Int = 4) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .integer(Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random))
        case 3: decimal() ?? .number(number())
        case 4, 5: .string(string())
        case 6, 7: .object(object(depth: depth - 1))
        default: .array((0..<Int.random(in: 0..<6, using: &random)).map { _ in value(depth: depth - 1) })
        }
    }

    private mutating func object(depth: Int) -> JSONObject {
        var object = JSONObject()
        for _ in 0..<Int.random(in: 0..<8, using: &random) { object[string()] = value(depth: depth) }
        return object
    }

    private mutating func decimal() -> JSONValue? {
        guard hasLongNumbers, Bool.random(using: &random) else { return nil }
        return try? JSONValue(parsing: "\(random.next() >> 1 + 1)\(random.next() % 1_000_000).\(random.next() % 1000)")
    }

    private mutating func number() -> Double {
        let number = Double(bitPattern: random.next())
        if number.isFinite, Bool.random(using: &random) { return number }
        return Double.random(in: -1000...1000, using: &random)
    }

    mutating func string() -> String {
        let alphabet: [Character] = [
            "a", "Z", "7", " ", "\"", "\\", "/", "\n", "\t", "\u{1}", "\u{7F}", "é", "\u{2028}", "€", "😀", "\u{FFFF}",
        ]
        let isPlain = Bool.random(using: &random)
        return String(
            (0..<Int.random(in: 0..<24, using: &random)).map { _ in
                isPlain ? "x" : alphabet.randomElement(using: &random) ?? "a"
            })
    }
}
