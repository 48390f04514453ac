import FeathersJSON
import FeathersModels
import Foundation
import TestBackend
import Testing

@Suite("Models of random schemas", .enabled(if: ModelProgram.isPossible))
struct RandomSchemaTests {
    private static let count = Int(ProcessInfo.processInfo.environment["FEATHERS_MODEL_SCHEMAS"] ?? "") ?? 24

    /// An OpenAPI document of services with random records.
    private static func document(_ records: [[RandomSchema.Field]], _ chance: inout Chance) -> JSONValue {
        var (schemas, paths) = (JSONObject(), JSONObject())
        for (index, fields) in records.enumerated() {
            let name = "model\(index)x"
            let schema = RandomSchema.object(fields, &chance)
            schemas[name] = replaced(schema, with: "#/components/schemas/\(name)")
            let answer: JSONValue = ["200": ["content": ["application/json": ["schema": ["$ref": "#/components/schemas/\(name)"]]]]]
            paths["/\(name)/{id}"] = ["get": ["responses": answer]]
        }
        return ["openapi": "3.0.3", "paths": .object(paths), "components": ["schemas": .object(schemas)]]
    }

    private static func replaced(_ json: JSONValue, with reference: String) -> JSONValue {
        switch json {
        case "#/components/schemas/THIS": .string(reference)
        case .object(let object): .object(JSONObject(object.map { ($0.key, replaced($0.value, with: reference)) }))
        case .array(let array): .array(array.map { replaced($0, with: reference) })
        default: json
        }
    }

    @Test("compile, take valid values, write them as they were, and refuse invalid ones")
    func random() async throws {
        var chance = Chance(seed: 19)
        var (done, compiling) = (0, Duration.zero)
        while done < Self.count {
            let records = (0..<min(24, Self.count - done)).map { _ in RandomSchema.fields(&chance, depth: 3) }
            let document = Self.document(records, &chance)
            let output = ModelGenerator(origin: "test").generate(from: [SchemaSource(name: "random.json", json: document)])
            #expect(output.warnings == [])
            #expect(output.services.count == records.count)
            var cases: [ModelProgram.Case] = []
            for (index, fields) in records.enumerated() {
                let type = "Model\(index)x"
                for _ in 0..<20 {
                    cases.append(ModelProgram.Case(type: type, value: RandomSchema.valid(fields, &chance, fields), isValid: true))
                    guard let invalid = RandomSchema.invalid(fields, &chance) else { continue }
                    cases.append(ModelProgram.Case(type: type, value: invalid, isValid: false))
                }
            }
            let (files, types, all) = (output.files, records.indices.map { "Model\($0)x" }, cases)
            let result = try await SiblingProgram.onThread { try ModelProgram.complaints(files, types: types, all) }
            #expect(result.lines == [], "\(result.lines.prefix(20).joined(separator: "\n"))")
            guard result.lines.isEmpty else { break }
            done += records.count
            compiling += result.compiling
        }
        print("\(done) random schemas; compiled and linked in \(compiling)")
    }

    @Test("of the known documents compile without a warning, public or not", arguments: Corpus.names)
    func corpus(_ name: String) async throws {
        for isPublic in [false, true] {
            let files = try Corpus.output(name, isPublic: isPublic).files
            let result = try await SiblingProgram.onThread { try ModelProgram.complaints(files, types: [], []) }
            #expect(result.lines == [], "\(result.lines.prefix(20).joined(separator: "\n"))")
        }
    }
}
