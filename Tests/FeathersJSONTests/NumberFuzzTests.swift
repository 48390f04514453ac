import FeathersJSON
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Random numbers, compared with JSONDecoder")
struct NumberFuzzTests {
    private static let cases = Environment.count ?? 20_000
    private static let seed = Environment.seed ?? 1

    private static let types: [any (Decodable & Equatable & Sendable).Type] = [
        Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self, UInt8.self, UInt16.self,
        UInt32.self, UInt64.self,
        UInt128.self, Double.self, Float.self, Decimal.self,
    ]

    @Test("A number that is decoded is the one that JSONDecoder decodes")
    func decodes() throws {
        var numbers = RandomNumbers(random: SeededGenerator(seed: Self.seed))
        var (decoded, refused) = (0, 0)
        for _ in 0..<Self.cases / Self.types.count {
            let text = numbers.next()
            let value = try JSONValue(parsing: text)
            for type in Self.types {
                let (ours, theirs) = Self.decode(type, text, value)
                guard let ours else {
                    if theirs != nil { refused += 1 }
                    continue
                }
                decoded += 1
                // JSONDecoder refuses some numbers that fit, such as 18446744073709551616.0 as an Int128.
                if theirs == nil, PlainNumber(ours) == PlainNumber(text) { continue }
                #expect(ours == theirs, "\(text) as \(type): \(ours) instead of \(theirs ?? "an error")")
            }
        }
        if Environment.count != nil {
            print("\(decoded) numbers are decoded, \(refused) are refused although JSONDecoder decodes them")
        }
        #expect(decoded > Self.cases / 4 && refused < decoded / 20)
    }

    private static func decode<T: Decodable & Equatable>(_ type: T.Type, _ text: String, _ value: JSONValue) -> (
        String?, String?
    ) {
        let ours = try? JSONValueDecoder().decode([T].self, from: [value])
        let theirs = try? JSONDecoder().decode([T].self, from: Data("[\(text)]".utf8))
        if let ours, ours == theirs { return ("equal", "equal") }
        return (ours.map { "\($0[0])" }, theirs.map { "\($0[0])" })
    }

    @Test("A number that is parsed and written keeps its digits")
    func writes() throws {
        var numbers = RandomNumbers(random: SeededGenerator(seed: Self.seed &+ 1))
        for _ in 0..<Self.cases {
            let text = numbers.next()
            let value = try JSONValue(parsing: text)
            let written = String(decoding: try value.serialized(), as: UTF8.self)
            #expect(PlainNumber(written) == PlainNumber(text), "\(text) is written as \(written)")
            #expect(try JSONValue(parsing: written) == value, "\(text)")
        }
    }

    @Test("Numbers are equal, and hash alike, if their digits are equal")
    func compares() throws {
        var numbers = RandomNumbers(random: SeededGenerator(seed: Self.seed &+ 2))
        for _ in 0..<Self.cases {
            let (left, right) = (numbers.next(), numbers.next())
            for (left, right) in [(left, right), (left, numbers.respelled(left))] {
                let values = (try JSONValue(parsing: left), try JSONValue(parsing: right))
                let isEqual = PlainNumber(left) == PlainNumber(right)
                #expect((values.0 == values.1) == isEqual, "\(left) and \(right)")
                if isEqual { #expect(values.0.hashValue == values.1.hashValue, "\(left) and \(right)") }
            }
        }
    }
}

/// Numbers in any spelling, most of them near the limits of a type.
private struct RandomNumbers {
    var random: SeededGenerator

    mutating func next() -> String {
        let text = unsigned()
        return Bool.random(using: &random) ? text : "-" + text
    }

    private mutating func unsigned() -> String {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return digits(upTo: 4)
        case 1: return digits(upTo: 45)
        case 2: return nearPowerOfTwo()
        case 3: return nearPowerOfTwo() + ".0"
        case 4:
            let double = Double(bitPattern: random.next()).magnitude
            return double.isFinite ? double.description : "0"
        case 5:
            // Between two floats, where rounding twice is wrong.
            let float = Float.random(in: 0...1000, using: &random)
            return ((Double(float) + Double(float.nextUp)) / 2).description
                + (Bool.random(using: &random) ? "" : digits(upTo: 3))
        case 6: return digits(upTo: 20) + "." + fraction()
        default: return digits(upTo: 18) + (Bool.random(using: &random) ? "." + fraction() : "") + exponent()
        }
    }

    private mutating func nearPowerOfTwo() -> String {
        let power = UInt128(1) << UInt128([7, 8, 15, 16, 31, 32, 53, 63, 64, 127].randomElement(using: &random) ?? 0)
        return String(power &+ UInt128(Int.random(in: 0...4, using: &random)) &- 2)
    }

    private mutating func digits(upTo count: Int) -> String {
        let text = String((0..<Int.random(in: 1...count, using: &random)).map { _ in digit() }).drop { $0 == "0" }
        return text.isEmpty ? "0" : String(text)
    }

    private mutating func fraction() -> String {
        String((0..<Int.random(in: 1...25, using: &random)).map { _ in digit() })
    }

    /// Zeros often come in a row.
    private mutating func digit() -> Character {
        Bool.random(using: &random) ? "0" : "0123456789".randomElement(using: &random) ?? "0"
    }

    private mutating func exponent() -> String {
        let range = Bool.random(using: &random) ? 0...20 : 0...420
        return (["e", "E", "e+", "e-", "E-"].randomElement(using: &random) ?? "e")
            + String(Int.random(in: range, using: &random))
    }

    /// The same number in another spelling.
    mutating func respelled(_ text: String) -> String {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        let (mantissa, exponent) = (String(parts[0]), parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        if Bool.random(using: &random), !mantissa.contains("."), !mantissa.hasSuffix("0") {
            return "\(mantissa)000E\(exponent - 3)"
        }
        return mantissa + (mantissa.contains(".") ? "00" : ".0") + "e\(exponent)"
    }
}

/// A number as its digits without zeros around them, and the power of ten of the last.
private struct PlainNumber: Equatable {
    private var isNegative = false
    private var digits = ""
    private var exponent = 0

    init(_ text: String) {
        let parts = text.split { $0 == "e" || $0 == "E" }
        let mantissa = parts[0].split(separator: ".")
        let fraction = mantissa.count > 1 ? String(mantissa[1]) : ""
        digits = String((mantissa[0].filter(\.isNumber) + fraction).drop { $0 == "0" })
        exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction.count
        while digits.hasSuffix("0") {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { exponent = 0 } else { isNegative = text.hasPrefix("-") }
    }
}
