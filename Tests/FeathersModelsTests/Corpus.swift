import FeathersJSON
import FeathersModels
import Foundation

/// The documents in the folder `Corpus`.
enum Corpus {
    static let names = ["broken", "chat", "shop"]
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    static func document(_ name: String) throws -> SchemaSource {
        let data = try Data(contentsOf: folder.appending(path: "Corpus/\(name).json"))
        return SchemaSource(name: "\(name).json", json: try JSONValue(parsing: data))
    }

    static func output(_ name: String, isPublic: Bool = false) throws -> ModelGenerator.Output {
        ModelGenerator(origin: "\(name).json", isPublic: isPublic).generate(from: [try document(name)])
    }

    /// All files and warnings of a run, as one text.
    static func text(_ output: ModelGenerator.Output) -> String {
        let files = output.files.sorted { $0.key < $1.key }.map { "==== \($0.key)\n\($0.value)" }
        return files.joined() + output.warnings.map { "==== warning: \($0)\n" }.joined()
    }

    /// The files for one component schema, as the service `things`.
    static func files(_ schema: JSONValue, others: JSONValue = [:]) -> ModelGenerator.Output {
        var schemas = others
        schemas["things"] = schema
        let answer: JSONValue = ["200": ["content": ["application/json": ["schema": ["$ref": "#/components/schemas/things"]]]]]
        let document: JSONValue = [
            "openapi": "3.0.3", "paths": ["/things/{id}": ["get": ["responses": answer]]], "components": ["schemas": schemas],
        ]
        return ModelGenerator(origin: "test").generate(from: [SchemaSource(name: "test.json", json: document)])
    }
}
