import FeathersJSON
import FeathersTesting
import Foundation
import Testing

@Suite("JSON compared with Foundation's")
struct JSONDifferentialTests {
    @Test("Generated values written by this library are read alike by JSONDecoder", arguments: 0..<10)
    func foundationReadsOurText(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: seed))
        for _ in 0..<40 {
            let value = generator.value()
            let text = Data(try value.serialized())
            #expect(try JSONDecoder().decode(JSONValue.self, from: text) == value)
        }
    }

    @Test(
        "Generated values written by JSONEncoder and JSONSerialization are read alike by this library",
        arguments: 0..<10)
    func weReadFoundationsText(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 100 + seed))
        for _ in 0..<40 {
            let value = generator.value()
            #expect(try JSONValue(parsing: JSONEncoder().encode(value)) == value)
        }
        // JSONSerialization rounds them.
        generator.hasLongNumbers = false
        for _ in 0..<40 {
            let value = generator.value()
            let any = try JSONSerialization.jsonObject(with: Data(try value.serialized()), options: .fragmentsAllowed)
            let text = try JSONSerialization.data(withJSONObject: any, options: .fragmentsAllowed)
            #expect(try JSONValue(parsing: text) == value)
        }
    }

    /// Where Foundation is known to differ, with the reason.
    private static func isKnownDifference(_ text: [UInt8], _ error: JSONParsingError?) -> Bool {
        // Foundation refuses escaped lone surrogates, which JavaScript sends.
        if error == nil, String(decoding: text, as: UTF8.self).lowercased().contains("\\ud") { return true }
        // Foundation takes a byte order mark, and guesses UTF-16 and UTF-32 from zero bytes.
        if text.contains(0) || text.starts(with: [0xEF]) || text.starts(with: [0xFE]) || text.starts(with: [0xFF]) {
            return true
        }
        // Foundation checks numbers when they are decoded, and this library keeps those that no Double and no Decimal
        // can hold.
        return error?.reason == .numberOutOfRange || String(decoding: text, as: UTF8.self).contains(/[eE][-+]?[0-9]{3}/)
    }

    @Test("Damaged texts are accepted and refused as JSONDecoder does", arguments: 0..<10)
    func agreesOnDamagedText(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 200 + seed))
        var refused = 0
        for _ in 0..<60 {
            let text = try generator.damagedText()
            var failure: JSONParsingError?
            var value: JSONValue?
            do throws(JSONParsingError) {
                value = try JSONValue(parsing: text)
            } catch {
                failure = error
                refused += 1
            }
            guard !Self.isKnownDifference(text, failure) else { continue }
            let theirs = try? JSONDecoder().decode(JSONValue.self, from: Data(text))
            #expect(
                (theirs == nil) == (value == nil),
                "\(String(decoding: text, as: UTF8.self)), \(String(describing: failure))")
        }
        // Both outcomes have to occur for the comparison to mean something.
        #expect(refused > 5 && refused < 60)
    }
}

extension RandomJSON {
    /// A valid text in which a few bytes were changed, left out, doubled, or swapped for a piece of another.
    mutating func damagedText() throws -> [UInt8] {
        var text = try value().serialized()
        let pieces: [[UInt8]] = [
            "[", "]", "{", "}", ",", ":", "\"", "\\", "0", "-", "e", ".", " ", "null", "\\u12", "\n",
        ].map {
            Array($0.utf8)
        }
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            let position = Int.random(in: 0...text.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where position < text.count: text.remove(at: position)
            case 1 where position < text.count: text[position] = UInt8(truncatingIfNeeded: random.next())
            case 2: text.removeSubrange(position...)
            default: text.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: position)
            }
        }
        return text
    }
}
