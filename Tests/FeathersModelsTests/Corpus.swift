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
        return files(paths: ["/things/{id}": ["get": result(reference("things"))]], schemas: schemas)
    }

    /// The files for an OpenAPI document with some paths and component schemas.
    static func files(paths: JSONValue, schemas: JSONValue) -> ModelGenerator.Output {
        let document: JSONValue = ["openapi": "3.0.3", "paths": paths, "components": ["schemas": schemas]]
        return ModelGenerator(origin: "test").generate(from: [SchemaSource(name: "test.json", json: document)])
    }

    /// An operation with the schema of its result and that of its body.
    static func result(_ schema: JSONValue, body: JSONValue? = nil) -> JSONValue {
        var operation: JSONValue = ["responses": ["200": ["content": ["application/json": ["schema": schema]]]]]
        if let body { operation["requestBody"] = ["content": ["application/json": ["schema": body]]] }
        return operation
    }

    static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

    static func object(_ properties: JSONValue, required: JSONValue = []) -> JSONValue {
        ["type": "object", "properties": properties, "required": required]
    }
}
