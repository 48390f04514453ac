import FeathersCore
import Testing

@Suite("Refusal of queries that are not Feathers'")
struct QueryMatcherRefusalTests {
    struct Refusal: Sendable {
        let query: Query<JSONValue>
        let message: String
        var data: JSONValue?
    }

    static let refusals: [Refusal] = [
        Refusal(query: ["n": ["$regex": "x"]], message: "Invalid query parameter $regex", data: ["$regex": "x"]),
        Refusal(
            query: ["n": ["$gt": 1, "$no": 2]], message: "Invalid query parameter $no", data: ["$gt": 1, "$no": 2]),
        Refusal(query: ["a": ["b": ["$no": 1]]], message: "Invalid query parameter $no", data: ["$no": 1]),
        Refusal(query: ["$or": [["a": ["$no": 1]]]], message: "Invalid query parameter $no", data: ["$no": 1]),
        Refusal(
            query: ["$or": [["$and": [["a": 1]]]]],
            message: "Invalid query parameter $and",
            data: ["$and": [["a": 1]]]),
        Refusal(query: ["$populate": "user"], message: "Invalid filter value $populate"),
        Refusal(query: ["$or": []], message: "$or must be a nonempty array", data: ["$or": []]),
        Refusal(query: ["$and": ["a": 1]], message: "$and must be a nonempty array", data: ["$and": ["a": 1]]),
        Refusal(
            query: ["a": ["$gt": 1, "b": 2]],
            message: "Property queries must contain only operations, or exact objects.",
            data: ["$gt": 1, "b": 2]),
        Refusal(query: ["a": ["$in": [["$gt": 1]]]], message: "cannot nest $ under $in", data: ["$in": [["$gt": 1]]]),
        Refusal(
            query: ["a": ["$or": [["$gt": 1]]]], message: "Malformed query. $or cannot be matched against property.",
            data: ["$or": [["$gt": 1]]]),
    ]

    @Test("Says what is wrong in FeathersJS' words", arguments: refusals)
    func refusal(_ refusal: Refusal) throws {
        let error = try #require(throws: FeathersError.self) { try QueryMatcher(refusal.query) }
        #expect(error.code == .badRequest)
        #expect(error.message == refusal.message)
        #expect(error.data == refusal.data)
    }

    @Test("An operator of the service's own is evaluated")
    func ownOperators() throws {
        let divides = QueryOperator("$divides") { value, operand in
            guard let value = value?.integer, let operand = operand.integer, value != 0 else { return false }
            return operand % value == 0
        }
        let matcher = try QueryMatcher(["n": ["$divides": 12]], operators: [divides])
        #expect(matcher.matches(["n": 4]))
        #expect(matcher.matches(["n": [5, 3]]))
        #expect(!matcher.matches(["n": 5]))
        #expect(!matcher.matches([:]))
    }

    @Test("Ready-made operators: $exists, $size and $and inside $or")
    func readyMadeOperators() throws {
        let exists = try QueryMatcher(["a": ["$exists": true]], operators: [.exists])
        #expect(exists.matches(["a": nil]))
        #expect(!exists.matches(["b": 1]))
        let missing = try QueryMatcher(["a": ["$exists": false]], operators: [.exists])
        #expect(missing.matches(["b": 1]))
        #expect(!missing.matches(["a": 1]))
        #expect(try QueryMatcher(["a": ["$size": 2]], operators: [.size]).matches(["a": [1, 2]]))
        let nested = try QueryMatcher(["$or": [["$and": [["a": 1], ["b": 2]]]]], operators: [.nestedAnd])
        #expect(nested.matches(["a": 1, "b": 2]))
        #expect(!nested.matches(["a": 1]))
    }
}
