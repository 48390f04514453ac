import FeathersJSON
import FeathersModels
import Testing

@Suite("Damaged documents")
struct MutationTests {
    @Test("never stop the generator", arguments: Corpus.names)
    func mutations(_ name: String) throws {
        var chance = Chance(seed: 19)
        let document = try Corpus.document(name)
        for _ in 0..<40 {
            let damaged = Self.damaged(document.json, &chance)
            let output = ModelGenerator(origin: "test").generate(from: [
                SchemaSource(name: document.name, json: damaged)
            ])
            for (file, text) in output.files {
                // A name is one of Swift's, and leads to no other folder.
                #expect(file.allSatisfy { $0.isLetter || $0.isNumber || $0 == "." })
                #expect(text.hasPrefix("// Written by feathers-models"))
            }
        }
    }

    /// The document with some of its values replaced by others of it.
    static func damaged(_ json: JSONValue, _ chance: inout Chance) -> JSONValue {
        let odd: [JSONValue] = [
            nil, 1, "string", [], [:], ["$ref": "#"], ["$ref": "#/components"], true,
            ["type": ["array", "object", "null"]],
        ]
        if chance.next(200) == 0 { return odd[chance.next(odd.count)] }
        switch json {
        case .object(let object):
            return .object(JSONObject(object.map { ($0.key, damaged($0.value, &chance)) }))
        case .array(let array): return .array(array.map { damaged($0, &chance) })
        default: return json
        }
    }
}
