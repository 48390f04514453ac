import FeathersJSON
import FeathersTesting
import Testing

@Suite("JSON texts of random bytes")
struct JSONFuzzTests {
    /// Checks what must hold for any input: an error's offset lies inside the text, a value can be written and read again.
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
                isStructured ? alphabet[Int(random.next() % UInt64(alphabet.count))] : UInt8(truncatingIfNeeded: random.next())
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

    @Test("Texts that share a reader are read as each by itself, and refused for the same reason", arguments: 0..<8)
    func readsTogether(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 500 + seed))
        var (read, refused) = (0, 0)
        for _ in 0..<40 {
            // Repeated texts and records with the same keys, so that keys are known.
            let texts = try (0..<Int.random(in: 1..<60, using: &generator.random)).flatMap { index in
                let text = try Bool.random(using: &generator.random) ? generator.value().serialized() : generator.damagedText()
                return [text, Array(#"{"key \(index % 12)":\(index),"text":"a"}"#.utf8), text]
            }
            var places: [Range<Int>] = []
            var memory: [UInt8] = []
            for text in texts {
                places.append(memory.count..<memory.count + text.count)
                memory += text
            }
            memory.withUnsafeBufferPointer { memory in
                var reader = JSONTreeReader(within: memory)
                for (place, text) in zip(places, texts) {
                    let expected = Result { () throws(JSONParsingError) in try JSONValue(parsing: text) }
                    // Every fifth is elsewhere, as the data of an event in several pieces is.
                    let result = Result { () throws(JSONParsingError) in
                        read.isMultiple(of: 5)
                            ? try text.withUnsafeBufferPointer { (text) throws(JSONParsingError) in try reader.read(text) }
                            : try reader.read(UnsafeBufferPointer(rebasing: memory[place]))
                    }
                    switch (result, expected) {
                    case (.success(let value), .success(let other)):
                        #expect(value == other)
                        read += 1
                    case (.failure(let error), .failure(let other)):
                        #expect(error == other)
                        refused += 1
                    default: Issue.record("\(result) instead of \(expected)")
                    }
                }
            }
        }
        #expect(read > 500 && refused > 100)
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
