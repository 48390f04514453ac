import FeathersCore
import Foundation

@testable import FeathersSync

extension OutboxWrite {
    /// A write whose key is made of a number.
    static func sample(_ number: Int, lane: String? = nil, data: JSONValue = ["text": "Hi"], identity: Identity? = nil)
        -> OutboxWrite
    {
        let id = UUID.sample(number)
        return OutboxWrite(
            id: id, key: id, path: "messages", method: .patch, recordID: .integer(Int64(number)), data: data,
            query: Query(["$select": ["id"]]), route: ["room": "a/b"],
            date: Date(timeIntervalSince1970: 1_700_000_000.25),
            identity: identity, lane: lane ?? "messages#\(number)")
    }
}

extension UUID {
    static func sample(_ number: Int) -> UUID {
        let (high, low) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, high, low))
    }
}

/// A journal's records by numbers, and what they come to.
enum SampleJournal {
    static let refusal = FeathersError(.conflict, "Somebody was faster", data: ["version": 3], errors: ["text": "old"])

    /// One record of each kind, and writes in every stage.
    static let records: [JournalRecord] = [
        .added(.sample(1)), .added(.sample(2)), .begun(.sample(1)), .added(.sample(3)), .ended(.sample(1)),
        .claimed([.sample(2), .sample(3)], by: Identity("alice")), .begun(.sample(2)),
        .failed(.sample(2), .conflict, refusal, mayHaveExecuted: false),
        .replaced(.sample(2), key: .sample(9), data: ["text": "Ho"]),
        .begun(.sample(3)), .released(.sample(3)), .begun(.sample(3)),
        .failed(.sample(3), .unknown, refusal, mayHaveExecuted: true),
    ]

    static func entry(_ record: JournalRecord) throws -> Journal.Entry { try Journal.entry(record, path: "/outbox") }

    /// The bytes of a file with these records, and where each of them ends.
    static func file(_ records: [JournalRecord] = records) throws -> (bytes: [UInt8], ends: [Int]) {
        var (bytes, ends) = (JournalFormat.header, [JournalFormat.headerLength])
        for record in records {
            bytes += try entry(record).bytes
            ends.append(bytes.count)
        }
        return (bytes, ends)
    }

    static func contents(_ records: some Sequence<JournalRecord>) -> JournalContents {
        records.reduce(into: JournalContents()) { $0.apply($1) }
    }

    static func open(_ disk: SimulatedDisk) throws -> Journal {
        try Journal(on: disk, name: "outbox", path: "/outbox", smallestRewrite: 4096)
    }
}

extension JournalContents {
    /// All of it as text, to be compared.
    var text: [String] {
        records.map { String(decoding: (try? $0.payload()) ?? [], as: UTF8.self) }
    }
}
