import FeathersCore
import Testing

/// What FeathersJS' memory service answers, value by value.
struct MatchingCase: Sendable, CustomTestStringConvertible {
    let query: Query<JSONValue>
    let record: JSONValue
    let matches: Bool

    init(_ query: Query<JSONValue>, _ record: JSONValue, _ matches: Bool) {
        self.query = query
        self.record = record
        self.matches = matches
    }

    var testDescription: String { "\(query.json) \(matches ? "matches" : "does not match") \(record)" }
}

@Suite("Query matching")
struct QueryMatcherTests {
    @Test("Equality looks into arrays and takes missing for null", arguments: MatchingCase.equality)
    func equality(_ example: MatchingCase) throws {
        #expect(try QueryMatcher(example.query).matches(example.record) == example.matches)
    }

    @Test("$ne and $nin", arguments: MatchingCase.negation)
    func negation(_ example: MatchingCase) throws {
        #expect(try QueryMatcher(example.query).matches(example.record) == example.matches)
    }

    @Test("$in", arguments: MatchingCase.lists)
    func lists(_ example: MatchingCase) throws {
        #expect(try QueryMatcher(example.query).matches(example.record) == example.matches)
    }

    @Test("Order never crosses types", arguments: MatchingCase.order)
    func order(_ example: MatchingCase) throws {
        #expect(try QueryMatcher(example.query).matches(example.record) == example.matches)
    }

    @Test("Arrays and objects have no order", arguments: ["$gt", "$gte", "$lt", "$lte"])
    func noOrder(_ name: String) throws {
        for operand: JSONValue in [[1], ["a": 1]] {
            let matcher = try QueryMatcher(Query(["a": .object(JSONObject([(name, operand)]))]))
            for value: JSONValue in [0, 1, 2, "1", nil, [1], [[2]], ["a": 1]] {
                #expect(!matcher.matches(["a": value]))
            }
        }
    }

    @Test("Paths lead through objects and arrays", arguments: MatchingCase.paths)
    func paths(_ example: MatchingCase) throws {
        #expect(try QueryMatcher(example.query).matches(example.record) == example.matches)
    }

    @Test("$or and $and group conditions", arguments: MatchingCase.groups)
    func groups(_ example: MatchingCase) throws {
        #expect(try QueryMatcher(example.query).matches(example.record) == example.matches)
    }

    @Test("An empty query matches every record")
    func emptyQuery() throws {
        let matcher = try QueryMatcher(Query())
        #expect(matcher.matches(["a": 1]) && matcher.matches(nil))
    }

    @Test("Pages, sorting and selection are no conditions")
    func filtersAreNoConditions() throws {
        let matcher = try QueryMatcher(.limit(0).skip(5).sorted(by: "a").selecting("b"))
        #expect(matcher.matches(["a": 1]) && matcher.matches(["b": nil]) && matcher.matches(nil))
    }

    @Test("Integers beyond 2^53 are told apart")
    func largeIntegers() throws {
        let matcher = try QueryMatcher(["id": 9_007_199_254_740_993])
        #expect(matcher.matches(["id": 9_007_199_254_740_993]))
        #expect(!matcher.matches(["id": 9_007_199_254_740_992]))
    }

    @Test("A whole number matches however it is written")
    func wholeNumbers() throws {
        #expect(try QueryMatcher(["n": 1]).matches(["n": 1.0]))
        #expect(try QueryMatcher(["n": ["$gt": 0.5]]).matches(["n": 1]))
    }
}
