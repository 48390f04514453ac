import FeathersJSON
import FeathersTesting
import Testing

@Suite("JSON texts of random bytes")
struct JSONFuzzTests {
    /// Checks what must hold for any input: an error's offset lies inside the text, a value can be written and read
    /// again.
    private func check(_ text: [UInt8]) throws -> Bool {
        do {
            let value = try JSONValue(parsing: text)
            #expect(try JSONValue(parsing: value.serialized()) == value)
            return true
        } catch let error as JSONParsingError {
            #expect((0...text.count).contains(error.offset))
            return false
        }
    }

    @Test("No bytes whatever make the parser fail otherwise than by its error", arguments: 0..<4)
    func survivesRandomBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: 300 + seed)
        let alphabet = Array(#"[]{}:,"\/bfnrtu0123456789eE+-. truefalsn"#.utf8)
        for _ in 0..<2000 {
            let isStructured = Bool.random(using: &random)
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                isStructured
                    ? alphabet[Int(random.next() % UInt64(alphabet.count))] : UInt8(truncatingIfNeeded: random.next())
            }
            _ = try check(bytes)
            _ = try check([UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")])
        }
    }

    @Test("Damaged documents are either refused or read", arguments: 0..<4)
    func survivesDamage(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 400 + seed))
        var accepted = 0
        for _ in 0..<300 where try check(generator.damagedText()) { accepted += 1 }
        #expect(accepted > 30 && accepted < 300)
    }

    @Test(
        "A text that is cut off anywhere is refused",
        arguments: [
            #"{"a":[1,-2.5e3,"x\u00e9\n",true,null,{"b":"é€😀"}],"c":{}}"#, #"["0123456789abcdef","\ud83d\ude00"]"#,
        ])
    func refusesEveryPrefix(text: String) throws {
        let bytes = Array(text.utf8)
        #expect(try check(bytes))
        for count in 0..<bytes.count {
            #expect(try !check(Array(bytes[..<count])), "\(count) bytes")
        }
    }
}
