import Feathers
import Foundation

/// Models that list their properties, as `feathers-models` writes them, against the same models with coding keys.
enum PropertyBenchmarks {
    /// The properties of both.
    private struct KeyedMessage: Codable, Hashable, Sendable {
        var id: String
        var text: String
        var userID: String
        var createdAt: Date
        @Nullable var editedAt: Date?
        var pinned: Bool?
        var likes: Int
        var score: Double
        var tags: [String]
        var file: KeyedFile?

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case text, userID, createdAt, editedAt, pinned, likes, score, tags, file
        }
    }

    private struct KeyedFile: Codable, Hashable, Sendable {
        var name: String
        var bytes: Int
    }

    private struct ListedMessage: PropertyCodable {
        var id: String
        var text: String
        var userID: String
        var createdAt: Date
        @Nullable var editedAt: Date?
        var pinned: Bool?
        var likes: Int
        var score: Double
        var tags: [String]
        var file: ListedFile?

        static var properties: KeyValuePairs<String, PartialKeyPath<ListedMessage>> {
            [
                "_id": \.id,
                "text": \.text,
                "userID": \.userID,
                "createdAt": \.createdAt,
                "editedAt": \._editedAt,
                "pinned": \.pinned,
                "likes": \.likes,
                "score": \.score,
                "tags": \.tags,
                "file": \.file,
            ]
        }
    }

    private struct ListedFile: PropertyCodable {
        var name: String
        var bytes: Int

        static var properties: KeyValuePairs<String, PartialKeyPath<ListedFile>> {
            ["name": \.name, "bytes": \.bytes]
        }
    }

    private static let json: [JSONValue] = (0..<1000).map { number in
        [
            "_id": .string("id-\(number)"), "text": .string("Message number \(number): Zürich, 日本語"), "userID": "64f1c2a9e4b0",
            "createdAt": "2024-01-02T03:04:05.678Z", "editedAt": nil, "likes": .integer(Int64(number)),
            "score": .number(Double(number) * 0.37),
            "tags": ["swift", "feathers"], "file": number % 2 == 0 ? ["name": "a.png", "bytes": 12345] : nil,
        ]
    }

    static func groups() throws -> [BenchmarkGroup] {
        let bytes = try JSONValue.array(json).serialized()
        let names = ["decode", "encode", "compare", "decode on two threads", "compare small ones on two threads"]
        var groups = names.map { BenchmarkGroup("models, \($0)") }
        try add(KeyedMessage.self, "coding keys", nil, [UInt8](bytes), to: &groups)
        try add(ListedMessage.self, "a list of properties", "coding keys", [UInt8](bytes), to: &groups)
        addSmall(KeyedFile(name: "a.png", bytes: 1), KeyedFile(name: "a.png", bytes: 2), "coding keys", nil, to: &groups[4])
        addSmall(
            ListedFile(name: "a.png", bytes: 1), ListedFile(name: "a.png", bytes: 2), "a list of properties", "coding keys", to: &groups[4])
        return groups
    }

    private static func add<Model: Codable & Hashable & Sendable>(
        _ type: Model.Type, _ name: String, _ reference: String?, _ bytes: [UInt8], to groups: inout [BenchmarkGroup]
    ) throws {
        let models = try CodingOptions().decode([Model].self, parsing: bytes)
        // Equal strings of their own, because equal storage would be compared by its address.
        let others = try CodingOptions().decode([Model].self, parsing: bytes)
        groups[0].add(name, operations: 1000, comparedWith: reference) { _ = try CodingOptions().decode([Model].self, parsing: bytes) }
        groups[1].add(name, operations: 1000, comparedWith: reference) { _ = try CodingOptions().encode(models) }
        groups[2].add(name, operations: 20_000, comparedWith: reference) {
            for _ in 0..<20 { precondition(models == others) }
        }
        groups[3].add(name, operations: 2000, comparedWith: reference) {
            try await withThrowingTaskGroup { tasks in
                for _ in 0..<2 { tasks.addTask { _ = try CodingOptions().decode([Model].self, parsing: bytes) } }
                try await tasks.waitForAll()
            }
        }
    }

    private static func addSmall<Model: Hashable & Sendable>(
        _ model: Model, _ other: Model, _ name: String, _ reference: String?, to group: inout BenchmarkGroup
    ) {
        let (models, others) = (Array(repeating: model, count: 20_000) + [model], Array(repeating: model, count: 20_000) + [other])
        group.add(name, operations: 40_000, comparedWith: reference) {
            await withTaskGroup { tasks in
                for _ in 0..<2 { tasks.addTask { precondition(zip(models, others).first { $0 != $1 } != nil) } }
                await tasks.waitForAll()
            }
        }
    }
}
