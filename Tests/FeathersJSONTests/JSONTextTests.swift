import FeathersTesting
import Foundation
import Testing

@testable import FeathersJSON

@Suite("Texts whose values are marked instead of built")
struct JSONTextTests {
    @Test("say the same as their trees", arguments: 0..<10)
    func treesAreEqual(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 300 + seed))
        var marked = 0
        for _ in 0..<200 {
            let bytes = try generator.value().serialized()
            guard let text = try JSONTape.marking(bytes) else { continue }
            marked += 1
            // Serialized, since the order of keys is no part of equality.
            #expect(try text.json.serialized() == bytes)
        }
        #expect(marked > 100)
    }

    @Test("are refused for the same reasons, at the same places", arguments: 0..<10)
    func errorsAreEqual(seed: UInt64) throws {
        var generator = RandomJSON(random: SeededGenerator(seed: 400 + seed))
        var refused = 0
        for _ in 0..<200 {
            let bytes = try generator.damagedText()
            do {
                let tree = try JSONValue(parsing: bytes)
                if let text = try JSONTape.marking(bytes) { #expect(text.json == tree) }
            } catch {
                // Given up before the fault was reached, a text is left to the tree, which finds it.
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
        "are left to the tree where objects have repeated, escaped or very many keys",
        arguments: [
            #"{"a":1,"b":2,"a":3}"#, #"[{"inner":{"a":{"a":1},"a":2}}]"#, #"{"\u0061":1}"#, #"{"":1,"":2}"#,
            "{" + (0...32).map { "\"key\($0)\":\($0)" }.joined(separator: ",") + "}",
        ])
    func oddObjects(text: String) throws {
        #expect(try JSONTape.marking(Array(text.utf8)) == nil)
        let decoded = try JSONValueDecoder().decode(JSONValue.self, parsing: Array(text.utf8))
        #expect(try decoded.serialized() == JSONValue(parsing: text).serialized())
    }

    @Test("keep keys of one name apart that belong to different objects")
    func nestedKeys() throws {
        let text = #"{"a":{"a":{"a":1}},"b":[{"a":2}],"c":{"b":3}}"#
        let marked = try #require(try JSONTape.marking(Array(text.utf8)))
        #expect(try marked.json.serialized() == Array(text.utf8))
    }

    @Test("build their tree once, whoever asks")
    func treeIsKept() throws {
        let text = try #require(try JSONTape.marking(Array(#"{"a":[1,2,3]}"#.utf8)))
        let (first, second) = (text.json["a"]?.array, text.json["a"]?.array)
        let addresses = [first, second].map { $0?.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(addresses[0] == addresses[1])
    }
}
