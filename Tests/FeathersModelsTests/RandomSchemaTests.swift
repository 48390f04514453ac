import FeathersJSON
import FeathersModels
import Foundation
import TestBackend
import Testing

@Suite("Models of random schemas", .enabled(if: ModelProgram.isPossible))
struct RandomSchemaTests {
    private static let count = Environment.count ?? 24
    /// The seed of the first 24 schemas; the next 24 have the next.
    private static let seed = Environment.seed ?? 19

    /// An OpenAPI document of services with random records.
    private static func document(_ records: [[RandomSchema.Field]], _ chance: inout Chance) -> JSONValue {
        var (schemas, paths) = (JSONObject(), JSONObject())
        for (index, fields) in records.enumerated() {
            let name = "model\(index)x"
            let schema = RandomSchema.object(fields, &chance)
            schemas[name] = replaced(schema, with: "#/components/schemas/\(name)")
            let answer: JSONValue = [
                "200": ["content": ["application/json": ["schema": ["$ref": "#/components/schemas/\(name)"]]]]
            ]
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
        let sizes = stride(from: 0, to: Self.count, by: 24).map { min(24, Self.count - $0) }
        var batches = zip(Self.seed..., sizes).makeIterator()
        // The compiler takes almost all the time, on one processor for each batch.
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            while let (seed, size) = batches.next() {
                if running == ProcessInfo.processInfo.activeProcessorCount {
                    try await group.next()
                } else {
                    running += 1
                }
                group.addTask { try await Self.check(size, seed) }
            }
            try await group.waitForAll()
        }
    }

    /// Checks some schemas, and prints that it has.
    private static func check(_ size: Int, _ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let records = (0..<size).map { _ in RandomSchema.fields(&chance, depth: 3) }
        let output = ModelGenerator(origin: "test").generate(from: [
            SchemaSource(name: "random.json", json: document(records, &chance))
        ])
        #expect(output.warnings == [], "seed \(seed)")
        #expect(output.services.count == size)
        var cases: [ModelProgram.Case] = []
        for (index, fields) in records.enumerated() {
            let type = "Model\(index)x"
            for _ in 0..<20 {
                cases.append(
                    ModelProgram.Case(type: type, value: RandomSchema.valid(fields, &chance, fields), isValid: true))
                guard let invalid = RandomSchema.invalid(fields, &chance) else { continue }
                cases.append(ModelProgram.Case(type: type, value: invalid, isValid: false))
            }
        }
        let (files, types, all) = (output.files, records.indices.map { "Model\($0)x" }, cases)
        let result = try await SiblingProgram.onThread { try ModelProgram.complaints(files, types: types, all) }
        try #require(result.lines == [], "seed \(seed): \(result.lines.prefix(20).joined(separator: "\n"))")
        print("seed \(seed): \(size) random schemas, \(all.count) values; compiled and linked in \(result.compiling)")
    }

    @Test(
        "of the known documents compile without a warning: public or not, and isolated to the main actor",
        arguments: Corpus.names)
    func corpus(_ name: String) async throws {
        for (isPublic, isolation) in [(false, nil), (true, nil), (false, "MainActor")] {
            let files = try Corpus.output(name, isPublic: isPublic).files
            let result = try await SiblingProgram.onThread {
                try ModelProgram.complaints(files, types: [], [], isolation: isolation)
            }
            #expect(result.lines == [], "\(result.lines.prefix(20).joined(separator: "\n"))")
        }
    }
}
