import Feathers
import Foundation

/// This package's JSON against Foundation's, on typical data: a page of ten messages, and a megabyte of records.
enum JSONBenchmarks {
    struct Message: Codable, Sendable {
        let id: Int
        let text: String
        let author: String
        let room: String
        let likes: Int
        let score: Double
        let tags: [String]
        let edited: Bool
    }

    struct Page: Codable, Sendable {
        let total: Int
        let limit: Int
        let skip: Int
        let data: [Message]
    }

    static func groups() throws -> [BenchmarkGroup] {
        try [group("page of 10", count: 10, repetitions: 500), group("1 MB", count: 5_400, repetitions: 1)]
    }

    /// Returns the JSON text of a page, for a profiler.
    static func pageOfTen() throws -> [UInt8] {
        try [UInt8](JSONEncoder().encode(page(of: 10)))
    }

    private static func page(of count: Int) -> Page {
        Page(
            total: count, limit: count, skip: 0,
            data: (0..<count).map { number in
                Message(
                    id: number, text: "Message number \(number): Zürich, 日本語, \"quoted\" and\nbroken",
                    author: "Ada Lovelace",
                    room: "general",
                    likes: number * 3, score: Double(number) * 0.37, tags: ["swift", "feathers"],
                    edited: number % 2 == 0)
            })
    }

    private static func group(_ name: String, count: Int, repetitions: Int) throws -> BenchmarkGroup {
        var group = BenchmarkGroup("JSON, \(name)")
        let model = page(of: count)
        let data = try JSONEncoder().encode(model)
        let bytes = [UInt8](data)
        let value = try JSONValue(parsing: bytes)
        // Foundation's tree isn't Sendable, but the benchmark only reads it.
        nonisolated(unsafe) let foundation = try JSONSerialization.jsonObject(with: data)

        func add(_ name: String, comparedWith reference: String? = nil, _ body: @escaping @Sendable () throws -> Void) {
            group.add(name, operations: repetitions, comparedWith: reference) {
                for _ in 0..<repetitions { try body() }
            }
        }
        add("parse, JSONDecoder to JSONValue") { _ = try JSONDecoder().decode(JSONValue.self, from: data) }
        add("parse, JSONSerialization") { _ = try JSONSerialization.jsonObject(with: data) }
        add("parse", comparedWith: "parse, JSONDecoder to JSONValue") { _ = try JSONValue(parsing: bytes) }
        add("parse (again)", comparedWith: "parse, JSONSerialization") { _ = try JSONValue(parsing: bytes) }
        add("serialize, JSONSerialization") { _ = try JSONSerialization.data(withJSONObject: foundation) }
        add("serialize", comparedWith: "serialize, JSONSerialization") { _ = try value.serialized() }
        add("to a model, JSONDecoder") { _ = try JSONDecoder().decode(Page.self, from: data) }
        add("to a model", comparedWith: "to a model, JSONDecoder") {
            _ = try CodingOptions().decode(Page.self, parsing: bytes)
        }
        add("to a model, via a JSON tree", comparedWith: "to a model") {
            _ = try CodingOptions().decode(Page.self, from: JSONValue(parsing: bytes))
        }
        add("from a model, JSONEncoder") { _ = try JSONEncoder().encode(model) }
        add("from a model", comparedWith: "from a model, JSONEncoder") {
            _ = try CodingOptions().encode(model).serialized()
        }
        return group
    }
}
