import FeathersCore
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSync

@Suite("Kept results on disk")
struct KeptResultTests {
    private static let key = KeptResultKey(identity: Identity("alice"), path: "notes", text: "{}")

    private static func result(_ count: Int64) throws -> KeptResult {
        let judge = try QueryJudge(.sorted(by: "id"), id: "id")
        let rows = try (0..<count).map { number in
            try judge.keptRow(["id": .integer(number), "text": "text \(number)"], at: Int(number))
        }
        return KeptResult(
            rows: ResultRows(rows), total: Int(count), limit: nil, isComplete: true, isSorted: true, date: .current,
            unsettled: [])
    }

    /// The file of a result, in parts of eight records.
    private static func bytes(_ count: Int64 = 20) throws -> [UInt8] {
        try result(count).bytes(of: key, recordsPerPart: 8)
    }

    @Test("are read whole or not at all, wherever they are cut off and whichever byte has changed")
    func damaged() async throws {
        let whole = try Self.bytes()
        for length in whole.indices {
            await #expect(throws: (any Error).self) { try await KeptResult(Array(whole[..<length]), of: Self.key) }
        }
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 0x10
            await #expect(throws: (any Error).self, "byte \(index)") { try await KeptResult(bytes, of: Self.key) }
        }
        await #expect(throws: (any Error).self) { try await KeptResult(whole + [0], of: Self.key) }
    }

    @Test("have their records in order, in however many parts", arguments: [0, 1, 7, 8, 9, 16, 100])
    func parts(_ count: Int64) async throws {
        let result = try await KeptResult(Self.bytes(count), of: Self.key)
        #expect(result.rows.map { $0.record["id"]?.integer } == (0..<count).map(\.self))
        #expect(result.total == Int(count) && result.isComplete)
    }

    @Test("have records in any form that JSON has")
    func forms() async throws {
        var deep: JSONValue = []
        for _ in 0..<1_000 { deep = [deep] }
        let many = JSONObject((0..<40).map { ("key \($0)", .integer($0)) })
        let judge = try QueryJudge(.sorted(by: "author.name"), id: "id")
        let source = FeathersApp().service("notes").live().source
        let forms: [JSONObject] = [
            ["id": 1, "text": "a", "author": ["name": "Ada \"A.\" \u{1F600}"]],
            ["id": 2, "text": 5, "author": ["name": "Bob"]],
            ["id": 3, "text": "a", "\"quoted\"": 1], ["id": 4, "text": "a", "many": .object(many)],
            ["id": 5, "text": "a", "deep": deep],
            ["id": try JSONValue(parsing: "12345678901234567890123"), "text": "a"],
        ]
        for record in forms {
            let part = try JSONValue.array([.object(record)]).serialized()
            let row = try #require(try source.keptRows(of: KeptResult.Part(part), judge).first)
            #expect(row.key == record["id"]?.description && row.sortValue == record["author"]?["name"])
            #expect(row.record == .object(record))
        }
        #expect(throws: KeptResult.Failure.damaged) {
            try source.keptRows(of: KeptResult.Part(Array("[{}]".utf8)), judge)
        }
    }

    @Test("are not written if the file would be larger than can be read", arguments: [0, 1, 20])
    func size(_ count: Int64) throws {
        let result = try Self.result(count)
        let whole = try result.bytes(of: Self.key)
        for limit in whole.indices {
            #expect(throws: KeptResult.Failure.tooLarge) { try result.bytes(of: Self.key, atMost: limit) }
        }
        #expect(try result.bytes(of: Self.key, atMost: whole.count) == whole)
    }

    @Test("are damaged if a part has another number of records than the head says", arguments: [-1, 7, 9, Int64.max])
    func counts(_ count: Int64) async throws {
        let whole = try Self.bytes()
        let headEnd = try #require(whole.dropFirst(10).firstIndex(of: UInt8(ascii: "\n")))
        var head = try JSONValue(parsing: whole[10...headEnd])
        guard case .array(var parts)? = head["parts"], case .array(var numbers)? = parts.first else {
            throw KeptResult.Failure.damaged
        }
        #expect(numbers[2] == 8)
        numbers[2] = .integer(count)
        parts[0] = .array(numbers)
        head = head.setting("parts", to: .array(parts))
        let text = try head.serialized() + [UInt8(ascii: "\n")]
        let checksum = XXH64.checksum(of: text[...])
        let bytes =
            whole[..<6] + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: checksum >> $0) } + text
            + whole[(headEnd + 1)...]
        await #expect(throws: KeptResult.Failure.damaged) { try await KeptResult(Array(bytes), of: Self.key) }
    }

    @Test("are those of one user and query")
    func others() async throws {
        let whole = try Self.bytes()
        for other in [
            KeptResultKey(identity: Identity("bob"), path: "notes", text: "{}"),
            KeptResultKey(identity: nil, path: "notes", text: "{}"),
            KeptResultKey(identity: Identity("alice"), path: "other", text: "{}"),
        ] {
            await #expect(throws: KeptResult.Failure.otherQuery) { try await KeptResult(whole, of: other) }
        }
    }
}

extension KeptResult {
    /// Reads a file as a query without a model does.
    init(_ bytes: [UInt8], of key: KeptResultKey) async throws {
        let judge = try QueryJudge(.sorted(by: "id"), id: "id")
        let source = FeathersApp().service(key.path).live().source
        try await self.init(bytes, of: key) { try source.keptRows(of: $0, judge) }
    }
}

extension KeptResult.Part {
    /// The first record of a result.
    init(_ text: [UInt8]) { self.init(text: text[...], indices: 0..<1) }
}
