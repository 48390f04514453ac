import FeathersCore
import Testing

@Suite("Query sorting")
struct QuerySorterTests {
    private func sort(_ query: Query<JSONValue>, _ records: [JSONValue]) throws -> [JSONValue] {
        try #require(try QuerySorter(query)).sorted(records)
    }

    @Test("Types sort as in FeathersJS: missing, null, numbers, strings, booleans, arrays, objects")
    func acrossTypes() throws {
        let mixed: [JSONValue] = [
            [1], [:], "b", nil, true, 10, "a", false, [], 2, ["z": 0], -1, "B", "10", [0, 5], ["a": 9],
        ]
        let sorted: [JSONValue] = [
            nil, -1, 2, 10, "10", "B", "a", "b", false, true, [], [0, 5], [1], [:], ["z": 0], ["a": 9],
        ]
        var records: [JSONValue] = mixed.map { ["v": $0] }
        records.insert(["none": 1], at: 3)
        let expected: [JSONValue] = [["none": 1]] + sorted.map { ["v": $0] }
        #expect(try sort(.sorted(by: "v"), records) == expected)
        #expect(try sort(.sorted(by: "v", .descending), records) == expected.reversed())
    }

    @Test("Strings sort by UTF-16 code units")
    func codeUnits() throws {
        let records: [JSONValue] = ["\u{FFFD}", "😀", "\u{E000}", "é", "z", "e\u{301}"].map { ["v": .string($0)] }
        let expected: [JSONValue] = ["e\u{301}", "z", "é", "😀", "\u{E000}", "\u{FFFD}"].map { ["v": .string($0)] }
        #expect(try sort(.sorted(by: "v"), records) == expected)
    }

    @Test("Properties sort one after the other, equal records keep their order")
    func severalProperties() throws {
        let records: [JSONValue] = [
            ["a": 1, "b": 1, "n": 1], ["a": 0, "b": 2, "n": 2], ["a": 1, "b": 2, "n": 3], ["a": 0, "b": 2, "n": 4],
        ]
        let sorted = try sort(.sorted(by: "b", .descending).sorted(by: "a"), records)
        #expect(sorted.compactMap { $0["n"]?.integer } == [2, 4, 3, 1])
    }

    @Test("A path whose intermediate is missing counts as missing")
    func paths() throws {
        let records: [JSONValue] = [["a": ["b": 2]], ["a": nil], ["a": ["b": 1]], [:], ["a": [["b": 0]]]]
        #expect(
            try sort(.sorted(by: "a.b"), records) == [
                ["a": nil], [:], ["a": [["b": 0]]], ["a": ["b": 1]], ["a": ["b": 2]],
            ])
        #expect(try sort(.sorted(by: "a.0.b", .descending), records).first == ["a": [["b": 0]]])
    }

    @Test("Directions may be strings, as they are over REST")
    func stringDirections() throws {
        #expect(try sort(["$sort": ["a": "-1"]], [["a": 1], ["a": 2]]) == [["a": 2], ["a": 1]])
    }

    @Test(
        "A direction that is no number is refused",
        arguments: ["asc", nil, [1], ["a": "asc"], ["a": nil]] as [JSONValue])
    func refusal(_ sort: JSONValue) throws {
        let error = try #require(throws: FeathersError.self) { try QuerySorter(["$sort": sort]) }
        #expect(error.code == .badRequest)
        #expect(error.message == "Invalid filter value $sort")
    }

    @Test("Selection keeps the id and the order of the selection")
    func selection() throws {
        let select = try #require(try QuerySelection(.selecting("n", "text", "no"), keeping: "id"))
        let selected = select(["id": 1, "text": "x", "n": nil, "more": 2])
        #expect(selected == ["n": nil, "text": "x", "id": 1])
        #expect(selected.object?.map(\.key) == ["n", "text", "id"])
    }

    @Test("A selection that is no array is refused")
    func selectionRefusal() {
        #expect(throws: FeathersError.self) { try QuerySelection(["$select": "text"], keeping: "id") }
    }
}
