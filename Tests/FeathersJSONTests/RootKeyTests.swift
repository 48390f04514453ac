import FeathersJSON
import Testing

@Suite("Root keys")
struct RootKeyTests {
    static let json: JSONValue = ["data": ["people": [["name": "Alex"], ["name": "Jeff"]], "5": "five", "none": nil]]

    @Test(
        "lead through objects and arrays",
        arguments: [
            ([], json), (["data", "people", 1, "name"], "Jeff"), (["data", "5"], "five"), (["data", "none"], nil),
            (["data", "people", 0], ["name": "Alex"]),
        ] as [([RootKey], JSONValue)])
    func found(keys: [RootKey], value: JSONValue) throws {
        #expect(try Self.json.unwrapped(by: keys) == value)
    }

    @Test(
        "that lead nowhere say where the way ends and what is there, never values",
        arguments: [
            (["people"], "the root key 'people' is missing at the top level; found an object with the keys 'data'"),
            (
                ["data", "user"],
                "the root key 'user' is missing at 'data'; found an object with the keys 'people', '5', 'none'"
            ),
            (["data", "people", 2], "the root index 2 is missing at 'data.people'; found an array of length 2"),
            (["data", "people", -1], "the root index -1 is missing at 'data.people'; found an array of length 2"),
            (
                ["data", "people", "name"],
                "the root key 'name' is missing at 'data.people'; found an array of length 2"
            ),
            (
                ["data", 0],
                "the root index 0 is missing at 'data'; found an object with the keys 'people', '5', 'none'"
            ),
            (["data", "5", "x"], "the root key 'x' is missing at 'data.5'; found a string"),
            (["data", "none", "x"], "the root key 'x' is missing at 'data.none'; found null"),
            (["data", "people", 0, "name", 0], "the root index 0 is missing at 'data.people.0.name'; found a string"),
        ] as [([RootKey], String)])
    func missing(keys: [RootKey], text: String) throws {
        let error = try #require(throws: MissingRootKey.self) { try Self.json.unwrapped(by: keys) }
        #expect(error.description == text)
    }

    @Test("of an object with many or long keys name ten of them, shortened")
    func manyKeys() throws {
        var object = JSONObject()
        for number in 0..<15 { object["\(number)" + String(repeating: "k", count: 100)] = 1 }
        let error = try #require(throws: MissingRootKey.self) { try JSONValue.object(object).unwrapped(by: ["x"]) }
        #expect(error.description.hasSuffix("and 5 more"))
        #expect(error.description.count < 600)
    }
}
