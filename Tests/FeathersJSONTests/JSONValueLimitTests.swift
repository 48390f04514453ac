import Testing

@testable import FeathersJSON

@Suite("The limit of values in a JSON text")
struct JSONValueLimitTests {
    @Test(
        "All values count, those in arrays and objects included, and nothing else",
        arguments: [
            ("0", 1), ("\"a,b,[{\"", 1), ("[]", 1), ("[ ]", 1), ("{\n}", 1), ("[0]", 2), ("[0,0]", 3), ("[[],[]]", 3),
            ("[[0],[0]]", 5),
            ("{\"a\":1,\"b\":{\"c\":[2,{}]}}", 6), ("[\"\\\",[,\", \"\\\\\",null]", 4),
            (" [ true , false , null , -1.5e3 ] ", 5),
        ])
    func count(text: String, count: Int) throws {
        #expect(try JSONValue(parsing: text, maximumValues: count) == JSONValue(parsing: text))
        let error = #expect(throws: JSONParsingError.self) { try JSONValue(parsing: text, maximumValues: count - 1) }
        #expect(error?.reason == .tooManyValues(limit: count - 1))
        #expect(throws: JSONParsingError.self) { try JSONValue(parsing: Array(text.utf8), maximumValues: 0) }
    }

    @Test("The error says where the first value beyond the limit begins, and names the limit")
    func place() {
        func offset(_ text: String, _ limit: Int) -> Int? {
            let error = #expect(throws: JSONParsingError.self) { try JSONValue(parsing: text, maximumValues: limit) }
            return error?.offset
        }
        #expect(offset("[0,1,2]", 3) == 4)
        #expect(offset("[ [7] ]", 2) == 3)
        #expect(offset("  1", 0) == 2)
        #expect(
            "\(JSONParsingError(reason: .tooManyValues(limit: 3), offset: 4))"
                == "Invalid JSON at byte 4: the text has more than 3 values")
    }

    @Test("Unless told otherwise it is 4 Mi, or one for each four bytes")
    func usual() throws {
        // The array counts too.
        let count = JSONValue.defaultMaximumValues
        var text = [UInt8](repeating: UInt8(ascii: "0"), count: 2 * count + 1)
        for index in 0..<count { text[2 * index] = UInt8(ascii: ",") }
        (text[0], text[2 * count]) = (UInt8(ascii: "["), UInt8(ascii: "]"))
        let error = JSONParsingError(reason: .tooManyValues(limit: count), offset: 2 * count - 2)
        #expect(throws: error) { try JSONValue(parsing: text) }
        #expect(
            JSONValueCount.defaultLimit(forBytes: 16 << 20) == count
                && JSONValueCount.defaultLimit(forBytes: 64 << 20) == 4 * count)
        try text.withUnsafeBufferPointer { try JSONValueCount.check($0, limit: count + 1) }
    }
}
