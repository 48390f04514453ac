import FeathersCore
import Foundation
import Testing

@Suite("Reading query strings back")
struct QueryParsingTests {
    static let withoutLimits = QueryStringOptions(arrayLimit: nil, depthLimit: nil, pairLimit: nil)

    struct Example: Sendable {
        let text: String
        let json: JSONValue

        init(_ text: String, _ json: JSONValue) {
            self.text = text
            self.json = json
        }
    }

    static let examples: [Example] = [
        Example("", [:]),
        Example("a=b&c=", ["a": "b", "c": ""]),
        Example("a", ["a": ""]),
        Example("a%5B0%5D=x&a%5B1%5D=y", ["a": ["x", "y"]]),
        Example("a[]=x&a[]=y", ["a": ["x", "y"]]),
        Example("a=x&a=y&a=z", ["a": ["x", "y", "z"]]),
        Example("a%5B0%5D=x&a%5B2%5D=y", ["a": ["0": "x", "2": "y"]]),
        Example("a%5B1%5D=1", ["a": ["1": "1"]]),
        Example("n[$in][0]=1&n[$in][1]=2&$sort[a]=-1", ["n": ["$in": ["1", "2"]], "$sort": ["a": "-1"]]),
        Example("$or[0][a]=1&$or[1][b][$ne]=x%20y+z", ["$or": [["a": "1"], ["b": ["$ne": "x y z"]]]]),
        Example("a=1=2&b=%5B%5D", ["a": "1=2", "b": "[]"]),
        Example("a[b=1&]=2", ["a[b": "1", "]": "2"]),
        Example("a=%zz%4", ["a": "%zz%4"]),
    ]

    @Test("A query string is read as qs reads it", arguments: examples)
    func parsing(_ example: Example) {
        #expect(JSONValue.object(Query(parsing: example.text).json) == example.json)
    }

    /// The query strings the JavaScript client wrote, with the names of their cases. The raw ones were written by hand.
    static func recordedTargets() throws -> [(name: String, text: String)] {
        let wire = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Support/Wire/rest.json")
        let file = try JSONDecoder().decode(Recording.self, from: Data(contentsOf: wire))
        return file.cases.filter { $0.client != "raw" }.flatMap { recorded in
            recorded.exchanges.compactMap { exchange in
                let target = exchange.request.line.split(separator: " ")[1]
                guard let mark = target.firstIndex(of: "?") else { return nil }
                return ("\(recorded.group)/\(recorded.name)", String(target[target.index(after: mark)...]))
            }
        }
    }

    private struct Recording: Decodable {
        struct Case: Decodable {
            let group: String
            let name: String
            let client: String?
            let exchanges: [Exchange]
        }
        struct Exchange: Decodable {
            struct Request: Decodable { let line: String }
            let request: Request
        }
        let cases: [Case]
    }

    @Test("Every recorded query string is written again byte for byte")
    func recordings() throws {
        let targets = try Self.recordedTargets()
        #expect(targets.count > 30)
        for (name, text) in targets {
            let written = try Query(parsing: text).queryString(Self.withoutLimits)
            #expect(written == text, "\(name)")
        }
    }

    @Test("What was written is read as the same text again", arguments: 0..<200)
    func roundTrip(seed: Int) throws {
        var generator = Generator(state: UInt64(seed))
        let query = Query<JSONValue>(generator.object(depth: 4))
        let text = try query.queryString(Self.withoutLimits)
        let read = Query<JSONValue>(parsing: text)
        #expect(try read.queryString(Self.withoutLimits) == text)
        #expect(read.json.map(\.key) == query.json.map(\.key))
    }

    /// Random queries that a query string can hold, the same ones for the same seed.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func object(depth: Int) -> JSONObject {
            var object = JSONObject()
            for _ in 0...Int.random(in: 0...3, using: &self) {
                let key =
                    ["a", "b.c", "$in", "$or", "é", "x y", "&=+", "%41", "7", "0"].randomElement(using: &self) ?? "a"
                object[key] = value(depth: depth - 1)
            }
            return object
        }

        private mutating func value(depth: Int) -> JSONValue {
            switch Int.random(in: 0...(depth > 0 ? 6 : 3), using: &self) {
            case 0: return .null
            case 1: return .integer(Int64.random(in: -5...50, using: &self))
            case 2: return .bool(Bool.random(using: &self))
            case 3: return .string(["", "x", "a b", "😀", "a=b&c", "%5B", "1+1"].randomElement(using: &self) ?? "")
            case 4: return .object(object(depth: depth))
            default: return .array((0...Int.random(in: 0...3, using: &self)).map { _ in value(depth: depth - 1) })
            }
        }
    }
}
