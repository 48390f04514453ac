import FeathersCore
import Testing

@Suite("Query strings")
struct QueryStringTests {
    struct Example: Sendable {
        let query: Query<JSONValue>
        let text: String

        init(_ query: Query<JSONValue>, _ text: String) {
            self.query = query
            self.text = text
        }
    }

    static let examples: [Example] = [
        Example([:], ""),
        Example(["a": "b"], "a=b"),
        Example(["a": ""], "a="),
        Example(["a": nil], "a="),
        Example(["a": [nil, 1, nil]], "a%5B0%5D=&a%5B1%5D=1&a%5B2%5D="),
        Example(
            ["a": .number(.nan), "b": .number(.infinity), "c": .number(-.infinity)], "a=NaN&b=Infinity&c=-Infinity"),
        Example(["a": -0.0, "b": 1e15, "c": -7.0], "a=0&b=1000000000000000&c=-7"),
        Example(["a": [1, true, false, "z"]], "a%5B0%5D=1&a%5B1%5D=true&a%5B2%5D=false&a%5B3%5D=z"),
        Example(["q": "x y+z/!*'()~-._"], "q=x%20y%2Bz%2F%21%2A%27%28%29~-._"),
        Example(["schlüssel": 1, "鍵": "😀"], "schl%C3%BCssel=1&%E9%8D%B5=%F0%9F%98%80"),
        Example(["a": ["0": "x", "2": "y"]], "a%5B0%5D=x&a%5B2%5D=y"),
        Example(["$sort": [:], "a": 1], "a=1"),
        Example(.where("n", .isIn([1, 2])).limit(0), "n%5B%24in%5D%5B0%5D=1&n%5B%24in%5D%5B1%5D=2&%24limit=0"),
        Example(
            .any(of: [["a": 1], .where("b.c", .notEquals(nil))]).sorted(by: "a", .descending).selecting("a"),
            "%24or%5B0%5D%5Ba%5D=1&%24or%5B1%5D%5Bb.c%5D%5B%24ne%5D=&%24sort%5Ba%5D=-1&%24select%5B0%5D=a"),
        Example(["a": ["b": ["c": ["d": ["e": ["f": 1]]]]]], "a%5Bb%5D%5Bc%5D%5Bd%5D%5Be%5D%5Bf%5D=1"),
        Example(["__proto__": ["x": 1], "toString": "z"], "__proto__%5Bx%5D=1&toString=z"),
    ]

    @Test("Queries are written as qs writes them", arguments: examples)
    func encoding(_ example: Example) throws {
        #expect(try example.query.queryString() == example.text)
    }

    @Test("Brackets are for arrays of plain values; arrays of objects keep their indices")
    func brackets() throws {
        let query = Query.where("n", .isIn([1, 2])).any(of: [["a": [3]], ["b": 4]])
        let text = try query.queryString(QueryStringOptions(arrayFormat: .brackets))
        #expect(text == "n%5B%24in%5D%5B%5D=1&n%5B%24in%5D%5B%5D=2&%24or%5B0%5D%5Ba%5D%5B%5D=3&%24or%5B1%5D%5Bb%5D=4")
    }

    @Test("An id in a URL is encoded as encodeURIComponent does")
    func component() {
        #expect(percentEncoded(component: "a/b ü?#%!*'()~") == "a%2Fb%20%C3%BC%3F%23%25!*'()~")
    }

    struct Refusal: Sendable {
        let query: Query<JSONValue>
        var options = QueryStringOptions()
        let words: [String]
    }

    static let refusals: [Refusal] = [
        Refusal(query: ["n": ["$in": []]], words: ["'n.$in'", "empty array"]),
        Refusal(query: ["a": []], words: ["'a'", "empty array"]),
        Refusal(query: ["b": 1, "a": [:]], words: ["'a'", "empty object"]),
        Refusal(query: ["$or": []], words: ["'$or'", "empty array"]),
        Refusal(query: ["$and": []], words: ["'$and'", "empty array"]),
        Refusal(query: ["$select": []], words: ["'$select'", "empty array"]),
        Refusal(query: ["$or": [["a": 1], [:]]], words: ["'$or[1]'", "empty object"]),
        Refusal(query: ["a": ["$sort": [:]]], words: ["'a.$sort'", "empty object"]),
        Refusal(
            query: .where("n", .isIn(0..<21)),
            words: [
                "'n.$in'", "21 elements", "at most 20", "socket", "QueryStringOptions(arrayLimit: 1000)",
                "app.set('query parser', text => qs.parse(text, { arrayLimit: 1000 }))",
                "{ get() { return qs.parse(this.querystring, { arrayLimit: 1000 }) } }",
            ]),
        Refusal(query: .where("n", .isNotIn(0..<21)), words: ["'n.$nin'", "21", "20"]),
        Refusal(query: .any(of: (0..<21).map { .where("n", $0) }), words: ["'$or'", "21"]),
        Refusal(query: ["$and": .array(Array(repeating: ["n": 1], count: 21))], words: ["'$and'", "21"]),
        Refusal(query: Query().selecting((0..<21).map { "n\($0)" }), words: ["'$select'", "21"]),
        Refusal(query: ["tags": .array(Array(repeating: "a", count: 21))], words: ["'tags'", "21"]),
        Refusal(
            query: .any(of: [["a": 1], .where("n", .isIn(0..<21))]), words: ["'$or[1].n.$in'", "21"]),
        Refusal(
            query: .where("n", .isIn(0..<21)), options: .init(arrayFormat: .brackets),
            words: ["'n.$in'", "21", "arrayLimit"]),
        Refusal(
            query: .where("n", .isIn(0...1000)), options: .init(arrayLimit: 1000), words: ["'n.$in'", "1001", "1000"]),
        Refusal(
            query: ["a": ["b": ["c": ["d": ["e": ["f": ["g": 1]]]]]]], words: ["'a.b.c.d.e.f.g'", "5", "depthLimit"]),
        Refusal(query: ["a": ["b": 1]], options: .init(depthLimit: 0), words: ["'a.b'", "depthLimit"]),
        Refusal(
            query: ["n": ["$in": .array((0..<999).map { .integer($0) })], "x": 1, "y": 2],
            options: .init(arrayLimit: nil), words: ["'y'", "1000", "pairLimit"]),
    ]

    @Test("What a query string would lose is refused before it is sent", arguments: refusals)
    func refusal(_ refusal: Refusal) throws {
        let error = try #require(throws: FeathersError.self) { try refusal.query.queryString(refusal.options) }
        #expect(error.code == .badRequest)
        #expect(error.execution == .neverSent)
        for word in refusal.words { #expect(error.message.contains(word)) }
    }

    @Test("Limits can be lifted")
    func noLimits() throws {
        let options = QueryStringOptions(arrayLimit: nil, depthLimit: nil, pairLimit: nil)
        let text = try Query.where("n", .isIn(0..<2000)).where("a", ["b": ["c": ["d": ["e": ["f": ["g": 1]]]]]])
            .queryString(options)
        #expect(text.hasSuffix("&n%5B%24in%5D%5B1999%5D=1999&a%5Bb%5D%5Bc%5D%5Bd%5D%5Be%5D%5Bf%5D%5Bg%5D=1"))
    }

    @Test("Limits are reached, not exceeded")
    func limitsReached() throws {
        _ = try Query.where("n", .isIn(0..<20)).queryString()
        _ = try Query.where("n", .isIn(0..<20)).queryString(QueryStringOptions(arrayFormat: .brackets))
        _ = try Query.where("n", .isIn(0..<1000)).queryString(QueryStringOptions(arrayLimit: 1000))
        let brackets = QueryStringOptions(arrayFormat: .brackets, arrayLimit: nil)
        #expect(try Query.where("n", .isIn(0..<500)).queryString(brackets).hasSuffix("=499"))
    }
}
