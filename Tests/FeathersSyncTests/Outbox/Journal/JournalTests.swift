import FeathersCore
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

@Suite("The database of an outbox", .timeLimit(.minutes(10)))
struct JournalTests {
    private let folder: OutboxFolder

    init() throws { folder = try OutboxFolder() }

    @Test("Each record has its effect, and what is pending is found in its order")
    func records() throws {
        let journal = try Journal(folder.file)
        for record in SampleJournal.events { try journal.append(record) }
        journal.close()
        let found = try folder.found()
        var second = OutboxWrite.sample(2, data: ["text": "Ho"], identity: Identity("alice"))
        (second.key, second.base, second.entityTag) = (.sample(9), ["text": "He"], "t")
        let third = OutboxWrite.sample(3, identity: Identity("alice"))
        #expect(found.map(\.write) == [second, third])
        #expect(found.map(\.execution) == [.neverSent, .mayHaveExecuted])
        #expect(found.map { $0.failure?.reason } == [nil, .unknown])
        let error = try #require(found.last?.failure?.error)
        #expect(error.code == .conflict && error.data == ["version": 3] && error.errors == ["text": "old"])
        #expect(error.execution == SampleJournal.refusal.execution && found.last?.failure?.write == third)
        let records = try Journal.peek(at: folder.file, service: "messages").records
        #expect(records == [FoundRecord(identity: Identity("alice"), key: "1", value: ["id": 1])])
    }

    @Test("A write is found as it was stored, whatever it contains")
    func columns() throws {
        let nested = (0..<1000).reduce(JSONValue.null) { value, _ in [value] }
        let writes = [
            OutboxWrite(
                id: .sample(1), key: .sample(2), path: "a/:b", method: ServiceMethod(rawValue: "publish"),
                recordID: "ü\0\"", data: nested, query: Query(["$or": [["a": 1.5], ["b": nil]]]),
                route: ["b": "", "c": "&="], date: Date(timeIntervalSinceReferenceDate: 0.1), identity: Identity("ü"),
                base: .null, entityTag: "W/\"1\"", lane: "", idProperty: "number"),
            OutboxWrite(
                id: .sample(3), key: .sample(3), path: "a", method: .remove, recordID: .integer(.max), data: nil,
                query: Query(), route: [:], date: .distantFuture, identity: nil, lane: "l"),
        ]
        let journal = try Journal(folder.file)
        for write in writes { try journal.append(.added(write)) }
        #expect(try folder.found().map(\.write) == writes)
        journal.close()
        #expect(try folder.found().map(\.write) == writes)
    }

    @Test("The assigned id reaches the writes that were stored before, and those that are stored later")
    func createdRecords() throws {
        let key = UUID.sample(1).text
        func patch(_ number: Int) -> OutboxWrite {
            let sample = OutboxWrite.sample(number, lane: "a")
            return OutboxWrite(
                id: sample.id, key: sample.key, path: sample.path, method: .patch, recordID: .string(key),
                data: ["n": 1], query: sample.query, route: sample.route, date: sample.date, identity: nil,
                lane: sample.lane)
        }
        let journal = try Journal(folder.file)
        try journal.append(.added(.sample(1, lane: "a")), .added(patch(2)))
        try journal.append(.ended(.sample(1), made: [key: 2]), .added(patch(3)))
        #expect(try folder.found().map(\.write.recordID) == [2, 2])
        journal.close()
        let later = try Journal(folder.file)
        try later.append(.added(patch(4)))
        #expect(try folder.found().map(\.write.recordID) == [2, 2, 2])
        // So many later ones displace it.
        for first in stride(from: 0, to: Names.limit, by: 1000) {
            let made = (first..<first + 1000).map { ("p\($0)", ServiceID(1)) }
            try later.append(.ended(.sample(9), made: Dictionary(uniqueKeysWithValues: made)))
        }
        try later.append(.added(patch(5)))
        #expect(try folder.found().map(\.write.recordID) == Array(repeating: .string(key), count: 4))
    }

    private func execute(_ number: Int, in journal: Journal, text: JSONValue = "x") throws {
        let result: JSONValue = ["id": .integer(Int64(number)), "text": text]
        let records: [WriteEvent] = [
            .added(.sample(number)), .begun(.sample(number)),
            .ended(.sample(number), executed: .sample(number, result)),
        ]
        let refusals = try journal.append(records.map { try Journal.entry($0) })
        #expect(refusals.allSatisfy { $0 == nil })
    }

    @Test("The end of a write has its record, whatever its size and however many follow")
    func executed() throws {
        let journal = try Journal(folder.file)
        let large = JSONValue.string(String(repeating: "x", count: 1_000_000))
        for number in 0..<1500 {
            try execute(number, in: journal, text: number == 0 ? large : "x")
            #expect(journal.storedChanges == [.sample(number): number + 1])
        }
        let found = try journal.records(at: "messages")
        #expect(found.map(\.key) == (0..<1500).map(String.init) && found[0].value?["text"] == large)
        #expect(try journal.records(at: "others").isEmpty)
        // A later state of a record replaces the former one, and a removed one leaves a trace.
        try journal.append(.ended(.sample(1), executed: .sample(1, ["id": 1, "text": "y"])))
        var removal = ExecutedResult.sample(2, .null)
        removal = ExecutedResult(
            write: OutboxWrite(
                id: removal.write.id, key: removal.write.key, path: "messages", method: .remove, recordID: 2, data: nil,
                query: Query(), route: removal.write.route, date: Date(), identity: nil, lane: ""),
            result: .null, identity: nil)
        try journal.append(.ended(.sample(2), executed: removal))
        let later = try journal.records(at: "messages")
        #expect(later.count == 1500 && later[1].value?["text"] == "y" && later[2].value == nil)
    }

    @Test("A user's records are removed from the files too, and no others")
    func removingRecords() async throws {
        let writer = JournalWriter(folder.file)
        _ = try await writer.open()
        for (number, name) in [(1, "alice"), (2, "bob")] {
            let record: JSONValue = ["id": .integer(Int64(number)), "text": .string("result of \(name)")]
            try await writer.append(.added(.sample(number)))
            try await writer.append(.ended(.sample(number), executed: .sample(number, record, to: name)))
        }
        func contains(_ text: String) throws -> Bool {
            try ["writes.outbox", "writes.outbox-wal"].contains {
                String(decoding: try folder.bytes(of: $0), as: UTF8.self).contains(text)
            }
        }
        #expect(try contains("result of alice"))
        try await writer.removeRecords(of: Identity("alice"))
        #expect(try !contains("result of alice"))
        #expect(try await writer.records(at: "messages").map(\.key) == ["2"])
        try await writer.removeRecords(of: nil)
        #expect(try !contains("result of bob"))
        await writer.close()
    }

    @Test("A reader finds what is pending in a service while another process writes, and nothing where no file is")
    func peeking() throws {
        #expect(try Journal.peek(at: folder.file, service: "messages").writes.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.file.path))
        let journal = try Journal(folder.file)
        try journal.append(.added(.sample(1)), .added(.sample(2)), .begun(.sample(2)))
        let found = try Journal.peek(at: folder.file, service: "messages").writes
        #expect(found.text == (try folder.found().text) && found.count == 2)
        #expect(try Journal.peek(at: folder.file, service: "others").writes.isEmpty)
        try journal.append(.ended(.sample(1)))
        #expect(try Journal.peek(at: folder.file, service: "messages").writes.map(\.write) == [.sample(2)])
    }

    @Test("Opening after 5,000 executed writes costs as much as after none", .inTurn)
    func openingCost() throws {
        let fresh = try OutboxFolder()
        for (folder, executed) in [(fresh, 0), (folder, 5000)] {
            let journal = try Journal(folder.file)
            for number in 0..<executed { try execute(number, in: journal) }
            try journal.append(.added(.sample(1)))
            journal.close()
        }
        func cost(_ folder: OutboxFolder) throws -> Double {
            try ThreadTime.measure {
                let journal = try Journal(folder.file)
                #expect(journal.takeOpened().count == 1)
                journal.close()
            }
        }
        var costs: [(after: Double, none: Double)] = []
        for _ in 0..<30 { costs.append((try cost(folder), try cost(fresh))) }
        let (after, none) = (costs.map(\.after).min() ?? 0, costs.map(\.none).min() ?? 0)
        print("Opening an outbox: \(after) s after 5,000 executed writes, \(none) s after none")
        #expect(after < none * 2)
    }

    @Test("What storing a write costs, alone and with others", .enabled(if: Environment.isLong))
    func commitCost() async throws {
        let writer = JournalWriter(folder.file)
        _ = try await writer.open()
        for group in [1, 10, 100] {
            let time = try await ContinuousClock().measure {
                for round in 0..<100 {
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        for number in 0..<group {
                            let write = OutboxWrite.sample(group * 100 + round * group + number)
                            tasks.addTask { try await writer.append(.added(write)) }
                        }
                        try await tasks.waitForAll()
                    }
                }
            }
            print("Storing in groups of \(group): \(time / (100 * group)) for each write")
        }
        await writer.close()
    }
}
