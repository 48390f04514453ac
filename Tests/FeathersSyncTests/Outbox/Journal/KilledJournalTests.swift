import FeathersCore
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSync

/// What a process leaves that is killed between two statements is what the files contain then. What a power failure
/// leaves is what was flushed, which is the log up to the last transaction, and anything behind it.
@Suite("Outboxes whose process is killed or loses power", .timeLimit(.minutes(10)))
struct KilledJournalTests {
    /// What is found after each number of records.
    private static func expected() throws -> [[String]] {
        let folder = try OutboxFolder()
        let journal = try Journal(folder.file)
        return try [[]]
            + SampleJournal.events.map { record in
                try journal.append(record)
                return try folder.found().text
            }
    }

    private static func isExecuted(_ folder: OutboxFolder) throws -> Bool {
        try !Journal.peek(at: folder.file, service: "messages").records.isEmpty
    }

    @Test("Killed after any statement, it has each acknowledged record, and at most the one in progress")
    func killed() throws {
        let expected = try Self.expected()
        let folder = try OutboxFolder()
        let journal = try Journal(folder.file)
        var acknowledged = 0
        var statements = 0
        journal.database.onStatement = {
            statements += 1
            do {
                let copy = try folder.copy()
                let found = try copy.found().text
                #expect(expected[acknowledged...].prefix(2).contains(found), "after statement \(statements)")
                // The record and the end of a write are one: never both, never neither.
                let isPending = try copy.found().contains { $0.write.id == .sample(1) }
                #expect(try acknowledged < 1 || Self.isExecuted(copy) != isPending, "after statement \(statements)")
            } catch {
                Issue.record("after statement \(statements): \(error)")
            }
        }
        for record in SampleJournal.events {
            try journal.append(record)
            acknowledged += 1
        }
        #expect(statements > 3 * SampleJournal.events.count)
    }

    @Test("Killed after any statement while it opens or closes, it has every record")
    func killedWhileOpening() throws {
        let folder = try OutboxFolder()
        for (index, record) in SampleJournal.events.enumerated() {
            let journal = try Journal(folder.file)
            let expected = try folder.found().text
            try journal.append(record)
            let found = try folder.found().text
            // Every other process is killed.
            if index.isMultiple(of: 2) { journal.close() }
            #expect(try folder.found().text == found && (found != expected || index == 9))
        }
        #expect(try folder.found().text == Self.expected().last)
    }

    @Test("With a log that the power cut at any byte, it has each acknowledged record, and whole ones behind them")
    func cut() throws {
        let expected = try Self.expected()
        let folder = try OutboxFolder()
        let journal = try Journal(folder.file)
        // The log's length after each number of records.
        var lengths = [try folder.bytes(of: "writes.outbox-wal").count]
        for record in SampleJournal.events {
            try journal.append(record)
            lengths.append(try folder.bytes(of: "writes.outbox-wal").count)
        }
        let (main, log) = (try folder.bytes(of: "writes.outbox"), try folder.bytes(of: "writes.outbox-wal"))
        let cuts = Set(stride(from: lengths[0], through: log.count, by: 397)).union(lengths.flatMap { [$0 - 1, $0] })
        for length in cuts where length >= lengths[0] {
            let copy = try OutboxFolder()
            try copy.write(main, to: "writes.outbox")
            // Where a file system had no time to write, it leaves zeros, which may be what the record ends with.
            try copy.write(log[..<length] + [UInt8](repeating: 0, count: length % 3 * 1000), to: "writes.outbox-wal")
            let whole = lengths.lastIndex { $0 <= length } ?? 0
            #expect(try expected[whole...].prefix(2).contains(copy.found().text), "cut at \(length)")
        }
    }

    @Test("A reader finds what is acknowledged after any statement")
    func reader() throws {
        let expected = try Self.expected()
        let folder = try OutboxFolder()
        let journal = try Journal(folder.file)
        var acknowledged = 0
        journal.database.onStatement = {
            let found = (try? Journal.peek(at: folder.file, service: "messages").writes.text) ?? ["unreadable"]
            #expect(expected[acknowledged...].prefix(2).contains(found))
        }
        for record in SampleJournal.events {
            try journal.append(record)
            acknowledged += 1
        }
    }
}
