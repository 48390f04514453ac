import FeathersJSON
import FeathersModels
import Foundation
import TestBackend
import Testing

@Suite("The time that generating takes")
struct SpeedTests {
    /// The time itself depends on the machine, so it is only printed.
    @Test("grows with the number of services and no faster")
    func speed() throws {
        let (short, long) = (try Self.seconds(generating: 20), try Self.seconds(generating: 200))
        print("20 services in \(short) s of one core, 200 in \(long) s")
        // Ten times as many services take about ten times as long; comparing each with all others would take a hundred
        // times as long.
        #expect(long < 20 * short)
    }

    /// The least processor time of three runs.
    private static func seconds(generating count: Int) throws -> Double {
        let text = try document(count)
        let runs = try (0..<3).map { _ in
            let start = ThreadTime.used
            let source = SchemaSource(name: "large.json", json: try JSONValue(parsing: text))
            let output = ModelGenerator(origin: "large.json").generate(from: [source])
            let end = ThreadTime.used
            #expect(output.services.count == count)
            return end - start
        }
        return try #require(runs.min())
    }

    /// A document with copies of the services of the chat.
    private static func document(_ count: Int) throws -> [UInt8] {
        let chat = try Corpus.document("chat").json
        var (schemas, paths) = (JSONObject(), JSONObject())
        for number in 0..<count / 2 {
            for (name, schema) in chat["components"]?["schemas"]?.object ?? [:] {
                schemas["s\(number)\(name)"] = renamed(schema, number)
            }
            for (path, item) in chat["paths"]?.object ?? [:] {
                paths["/s\(number)\(path.dropFirst())"] = renamed(item, number)
            }
        }
        return try JSONValue.object([
            "openapi": "3.0.3", "paths": .object(paths), "components": ["schemas": .object(schemas)],
        ]).serialized()
    }

    private static func renamed(_ json: JSONValue, _ number: Int) -> JSONValue {
        switch json {
        case "users": .string("s\(number)users")
        case .string(let text):
            .string(text.replacing("#/components/schemas/", with: "#/components/schemas/s\(number)"))
        case .object(let object): .object(JSONObject(object.map { ($0.key, renamed($0.value, number)) }))
        case .array(let array): .array(array.map { renamed($0, number) })
        default: json
        }
    }
}
