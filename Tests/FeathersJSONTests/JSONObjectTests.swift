import FeathersJSON
import Testing

@Suite("JSON objects")
struct JSONObjectTests {
    private static func object(count: Int) -> JSONObject {
        var object = JSONObject()
        for index in 0..<count { object["key\(index)"] = .integer(Int64(index)) }
        return object
    }

    @Test("Keys are found, replaced and removed whatever the size", arguments: [0, 1, 16, 31, 32, 33, 34, 200])
    func findsKeys(count: Int) {
        var object = Self.object(count: count)
        #expect(object.count == count)
        #expect(object.keys == (0..<count).map { "key\($0)" })
        #expect(object.map { $0.value } == (0..<count).map { .integer(Int64($0)) })
        #expect(object["no such key"] == nil)
        for index in (0..<count).reversed() {
            #expect(object["key\(index)"] == .integer(Int64(index)))
            object["key\(index)"] = "new"
            #expect(object["key\(index)"] == "new")
            #expect(object.removeValue(forKey: "key\(index)") == "new")
            #expect(object["key\(index)"] == nil)
            #expect(object.count == index)
        }
        #expect(object.isEmpty)
    }

    @Test("Removing from the middle keeps the order and finds the rest", arguments: [3, 33, 40])
    func removesFromTheMiddle(count: Int) {
        var object = Self.object(count: count)
        object["key1"] = nil
        #expect(object.keys == (0..<count).filter { $0 != 1 }.map { "key\($0)" })
        for index in 2..<count { #expect(object["key\(index)"] == .integer(Int64(index))) }
        object["key1"] = true
        #expect(object.keys.last == "key1")
    }

    @Test("Setting null keeps the key, setting nil removes it")
    func tellsNullFromNothing() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = .some(.null)
        #expect(object.keys == ["a", "b"])
        object["a"] = nil
        #expect(object.keys == ["b"])
    }

    @Test("A default is filled in once and changed in place")
    func fillsInDefaults() {
        var object = JSONObject()
        for _ in 0..<3 { object["list", default: []] = .array((object["list"]?.array ?? []) + [1]) }
        #expect(object == ["list": [1, 1, 1]])
        #expect(object["other", default: 5] == 5)
        #expect(object.count == 1)
    }

    @Test("Equality and hash ignore the order of the keys", arguments: [2, 33])
    func ignoresOrder(count: Int) {
        let forwards = Self.object(count: count)
        var backwards = JSONObject()
        for entry in forwards.reversed() { backwards[entry.key] = entry.value }
        #expect(forwards == backwards)
        #expect(forwards.hashValue == backwards.hashValue)
        backwards["key0"] = "other"
        #expect(forwards != backwards)
        backwards["key0"] = nil
        #expect(forwards != backwards)
    }

    @Test("A repeated key in a literal keeps its first place and its last value")
    func mergesLiterals() {
        let object: JSONObject = ["a": 1, "b": 2, "a": 3]
        #expect(object.keys == ["a", "b"])
        #expect(object["a"] == 3)
        #expect(JSONValue.object(object) == ["b": 2, "a": 1, "a": 3])
    }

    @Test("Strings and keys are equal by their code units, as in JavaScript")
    func comparesCodeUnits() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(JSONValue.string(composed) != .string(decomposed))
        #expect(Set([JSONValue.string(composed), .string(decomposed), .string(composed)]).count == 2)
        #expect([composed: 1] as JSONObject != [decomposed: 1])
        // The same length in bytes, another order of the combining marks.
        #expect(JSONValue.string("a\u{301}\u{323}") != .string("a\u{323}\u{301}"))
        for count in [10, 40] {
            var object = Self.object(count: count)
            object[composed] = 1
            object[decomposed] = 2
            #expect(object[composed] == 1)
            #expect(object[decomposed] == 2)
        }
    }

    @Test("Numbers are equal by their value", arguments: [(1, 1.0), (0, -0.0), (-5, -5.0)] as [(Int64, Double)])
    func comparesNumbers(integer: Int64, number: Double) {
        #expect(JSONValue.integer(integer) == .number(number))
        #expect(JSONValue.integer(integer).hashValue == JSONValue.number(number).hashValue)
        #expect(JSONValue.integer(9_007_199_254_740_993) != .number(9_007_199_254_740_992))
    }
}
