import FeathersJSON
import FeathersTesting
import Testing

@Suite("Packed JSON objects")
struct PackedObjectTests {
    @Test("Random objects are read as they were written, whole and by key", arguments: 0..<20)
    func roundTrips(seed: UInt64) throws {
        var source = RandomJSON(random: SeededGenerator(seed: seed))
        for _ in 0..<100 {
            var object: JSONObject = ["id": 1]
            for _ in 0..<10 { object[source.string()] = source.value() }
            let packed = try #require(PackedObject(object))
            #expect(packed.object == object && packed.object.keys == object.keys)
            for (key, value) in object { #expect(packed[key] == value) }
            #expect(packed["no such key"] == nil)
        }
    }

    @Test("Long strings, many keys, and keys up to 255 bytes are kept", arguments: [1, 24, 25, 255])
    func limits(length: Int) throws {
        var object: JSONObject = ["": .string(String(repeating: "é", count: length)), "empty": [:], "list": [[], [nil, ""]]]
        for number in 0..<50 { object["key \(number)"] = .string(String(repeating: "x", count: length)) }
        object[String(repeating: "k", count: length)] = .number(0.5)
        #expect(try #require(PackedObject(object)).object == object)
    }

    @Test("An object with a longer key is not packed, wherever the key is")
    func longKeys() {
        let key = String(repeating: "k", count: 256)
        #expect(PackedObject([key: 1]) == nil)
        #expect(PackedObject(["list": [[key: 1]]]) == nil)
    }
}
