import FeathersCore
import Foundation
import Testing

@Suite("Query building")
struct QueryBuilderTests {
    struct Example: Sendable {
        let query: Query<JSONValue>
        let json: JSONValue

        init(_ query: Query<JSONValue>, _ json: JSONValue) {
            self.query = query
            self.json = json
        }
    }

    static let conditions: [Example] = [
        Example(.where("a", 1), ["a": 1]),
        Example(.where("a", "x"), ["a": "x"]),
        Example(.where("a", true), ["a": true]),
        Example(.where("a", 1.5), ["a": 1.5]),
        Example(.where("a", nil), ["a": nil]),
        Example(.where("a", [1, 2]), ["a": [1, 2]]),
        Example(.where("a", ["x", 1]), ["a": ["x", 1]]),
        Example(.where("id", ServiceID(7)), ["id": 7]),
        Example(.where("id", UInt64.max), ["id": UInt64.max.queryValue]),
        Example(.where("a", .equals(nil)), ["a": nil]),
        Example(.where("a", .notEquals(nil)), ["a": ["$ne": nil]]),
        Example(.where("a", .notEquals(1)), ["a": ["$ne": 1]]),
        Example(.where("a", .greaterThan(1)), ["a": ["$gt": 1]]),
        Example(.where("a", .greaterThanOrEqual(1)), ["a": ["$gte": 1]]),
        Example(.where("a", .lessThan(1)), ["a": ["$lt": 1]]),
        Example(.where("a", .lessThanOrEqual("z")), ["a": ["$lte": "z"]]),
        Example(.where("a", .isIn([1, 2])), ["a": ["$in": [1, 2]]]),
        Example(.where("a", .isIn(1...3)), ["a": ["$in": [1, 2, 3]]]),
        Example(.where("a", .isIn(["x", 1, nil])), ["a": ["$in": ["x", 1, nil]]]),
        Example(.where("a", .isNotIn(["x"])), ["a": ["$nin": ["x"]]]),
        Example(.where("a", .custom("$regex", "^a")), ["a": ["$regex": "^a"]]),
        Example(.where("a.b", 1), ["a.b": 1]),
    ]

    @Test("Each condition has its operator", arguments: conditions)
    func condition(_ example: Example) {
        #expect(JSONValue.object(example.query.json) == example.json)
    }

    static let combinations: [Example] = [
        Example(.where("n", .greaterThan(1)).where("n", .lessThan(3)), ["n": ["$gt": 1, "$lt": 3]]),
        Example(
            .where("n", .notEquals(1)).where("n", .notEquals(2)).where("n", .notEquals(3)),
            ["n": ["$ne": 1], "$and": [["n": ["$ne": 2]], ["n": ["$ne": 3]]]]),
        Example(.where("n", 1).where("n", .greaterThan(0)), ["n": 1, "$and": [["n": ["$gt": 0]]]]),
        Example(.where("n", .greaterThan(0)).where("n", 1), ["n": ["$gt": 0], "$and": [["n": 1]]]),
        Example(.where("n", 1).where("n", 2), ["n": 1, "$and": [["n": 2]]]),
        Example(.where("n", ["x": 1]).where("n", .notEquals(2)), ["n": ["x": 1], "$and": [["n": ["$ne": 2]]]]),
        Example(.any(of: [["a": 1], .where("b", .notEquals(2))]), ["$or": [["a": 1], ["b": ["$ne": 2]]]]),
        Example(.any(of: [["a": 1]]).any(of: [["b": 1]]), ["$or": [["a": 1]], "$and": [["$or": [["b": 1]]]]]),
        Example(.all(of: [["a": 1], .any(of: [["b": 2]])]), ["$and": [["a": 1], ["$or": [["b": 2]]]]]),
        Example(.all(of: [["a": 1]]).all(of: [["b": 1]]), ["$and": [["a": 1], ["b": 1]]]),
        Example(.where("n", ["$gt": 1]).where("n", ["$lt": 3]), ["n": ["$gt": 1, "$lt": 3]]),
        Example(.where("n", 1).where("n", 1), ["n": 1]),
        Example(
            .any(of: [.all(of: [.where("n", .greaterThanOrEqual(1)), .where("n", .lessThan(3))]), ["a": 1]]),
            ["$or": [["n": ["$gte": 1, "$lt": 3]], ["a": 1]]]),
        Example(.any(of: [.all(of: [["a": 1], .any(of: [["b": 1]])])]), ["$or": [["a": 1, "$or": [["b": 1]]]]]),
        Example(
            .any(of: [.where("n", .notEquals(1)).where("n", .notEquals(2))]),
            ["$or": [["n": ["$ne": 1], "$and": [["n": ["$ne": 2]]]]]]),
        Example(.any(of: [.all(of: [])]), ["$or": [["$and": []]]]),
        Example(
            .where("n", .greaterThanOrEqual(1)).joined(with: .where("n", .lessThan(3)).where("a", 1)),
            ["n": ["$gte": 1, "$lt": 3], "a": 1]),
        Example(.where("n", 1).joined(with: .where("n", .notEquals(3))), ["n": 1, "$and": [["n": ["$ne": 3]]]]),
        Example(.limit(10).skip(20), ["$limit": 10, "$skip": 20]),
        Example(.limit(10).limit(5), ["$limit": 5]),
        Example(.selecting("id", "text").selecting("id", "n"), ["$select": ["id", "text", "n"]]),
        Example(.selecting(["id", "text"]), ["$select": ["id", "text"]]),
        Example(.setting("$populate", "user").setting("q", nil), ["$populate": "user", "q": nil]),
        Example(["a": ["$gt": 1], "$limit": 3], ["a": ["$gt": 1], "$limit": 3]),
    ]

    @Test("Combining loses no condition", arguments: combinations)
    func combination(_ example: Example) {
        #expect(JSONValue.object(example.query.json) == example.json)
    }

    @Test("The order written is the order sent")
    func order() {
        let query = Query.where("z", 1).sorted(by: "b", .descending).sorted(by: "a").sorted(by: "c").sorted(by: "b")
            .where("a", 2)
        #expect(query.json.map(\.key) == ["z", "$sort", "a"])
        #expect(query.json["$sort"]?.object?.map(\.key) == ["b", "a", "c"])
        #expect(query.json["$sort"] == ["b": 1, "a": 1, "c": 1])
    }

    @Test("Queries that sort in another order are different queries")
    func equality() {
        #expect(Query.sorted(by: "a").sorted(by: "b") != Query.sorted(by: "b").sorted(by: "a"))
        #expect(Query.where("a", 1).where("b", 2) == Query.where("b", 2).where("a", 1))
    }

    @Test(
        "Dates are written as JavaScript writes them",
        arguments: [
            (1_704_164_645.678, "2024-01-02T03:04:05.678Z"), (0, "1970-01-01T00:00:00.000Z"),
            (-0.001, "1969-12-31T23:59:59.999Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"), (-62_198_755_200, "-000001-01-01T00:00:00.000Z"),
            (253_402_300_800, "+010000-01-01T00:00:00.000Z"), (1_735_689_599.9996, "2025-01-01T00:00:00.000Z"),
        ])
    func dates(seconds: Double, text: String) {
        #expect(Query.where("at", Date(timeIntervalSince1970: seconds)).json["at"] == .string(text))
    }

    @Test("A date JavaScript cannot hold is null", arguments: [Double.nan, .infinity, 1e20])
    func impossibleDates(seconds: Double) {
        #expect(Date(timeIntervalSince1970: seconds).queryValue == nil as JSONValue)
    }
}
