import FeathersJSON
import FeathersModels
import Foundation
import TestBackend
import Testing

@Suite("The time that generating takes")
struct SpeedTests {
    @Test("is at most a second of one core for 200 services")
    func speed() throws {
        let chat = try Corpus.document("chat").json
        var (schemas, paths) = (JSONObject(), JSONObject())
        for number in 0..<100 {
            for (name, schema) in chat["components"]?["schemas"]?.object ?? [:] {
                schemas["s\(number)\(name)"] = Self.renamed(schema, number)
            }
            for (path, item) in chat["paths"]?.object ?? [:] { paths["/s\(number)\(path.dropFirst())"] = Self.renamed(item, number) }
        }
        let text = try JSONValue.object(["openapi": "3.0.3", "paths": .object(paths), "components": ["schemas": .object(schemas)]])
            .serialized()
        let start = Self.seconds()
        let source = SchemaSource(name: "large.json", json: try JSONValue(parsing: text))
        let output = ModelGenerator(origin: "large.json").generate(from: [source])
        let seconds = Self.seconds() - start
        print("200 services of \(text.count / 1024) KB in \(seconds) s of one core")
        #expect(output.services.count == 200)
        #expect(seconds <= (Environment.isThreadSanitized ? 10 : 1))
    }

    private static func renamed(_ json: JSONValue, _ number: Int) -> JSONValue {
        switch json {
        case .string(let text): .string(text.replacing("#/components/schemas/", with: "#/components/schemas/s\(number)"))
        case .object(let object): .object(JSONObject(object.map { ($0.key, renamed($0.value, number)) }))
        case .array(let array): .array(array.map { renamed($0, number) })
        default: json
        }
    }

    /// The processor's time of this thread, whatever else the machine does.
    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
