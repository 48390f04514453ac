import FeathersTesting
import Foundation
import Testing

@testable import FeathersJSON

@Suite("Tapes of JSON texts")
struct JSONTapeTests {
    @Test("have the values of their trees", arguments: 0..<10)
    func treesAreEqual(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 300 + seed))
        var written = 0
        for _ in 0..<200 {
            let bytes = try generator.value().serialized()
            guard let tape = try JSONTape.marking(bytes) else { continue }
            written += 1
            // Serialized, since equality ignores the order of keys.
            #expect(try tape.json.serialized() == bytes)
        }
        #expect(written > 100)
    }

    @Test("fail for the same reasons, at the same offsets", arguments: 0..<10)
    func errorsAreEqual(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 400 + seed))
        var refused = 0
        for _ in 0..<200 {
            let bytes = try generator.damagedText()
            do {
                let tree = try JSONValue(parsing: bytes)
                if let tape = try JSONTape.marking(bytes) { #expect(tape.json == tree) }
            } catch {
                // Where the writer gives up before it reaches the fault, the tree finds it.
                do {
                    #expect(try JSONTape.marking(bytes) == nil)
                } catch let own {
                    refused += 1
                    #expect(own == error)
                }
            }
        }
        #expect(refused > 10)
    }

    @Test(
        "are not written where objects have repeated, escaped or more than 32 keys",
        arguments: [
            #"{"a":1,"b":2,"a":3}"#, #"[{"inner":{"a":{"a":1},"a":2}}]"#, #"{"\u0061":1}"#, #"{"":1,"":2}"#,
            "{" + (0...32).map { "\"key\($0)\":\($0)" }.joined(separator: ",") + "}",
        ])
    func oddObjects(text: String) throws {
        #expect(try JSONTape.marking(Array(text.utf8)) == nil)
        let decoded = try JSONValueDecoder().decode(JSONValue.self, parsing: Array(text.utf8))
        #expect(try decoded.serialized() == JSONValue(parsing: text).serialized())
    }

    @Test("tell equal keys of different objects apart")
    func nestedKeys() throws {
        let text = #"{"a":{"a":{"a":1}},"b":[{"a":2}],"c":{"b":3}}"#
        let tape = try #require(try JSONTape.marking(Array(text.utf8)))
        #expect(try tape.json.serialized() == Array(text.utf8))
    }

    @Test("build their tree once")
    func treeIsKept() throws {
        let tape = try #require(try JSONTape.marking(Array(#"{"a":[1,2,3]}"#.utf8)))
        let (first, second) = (tape.json["a"]?.array, tape.json["a"]?.array)
        let addresses = [first, second].map { $0?.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(addresses[0] == addresses[1])
    }
}
