import FeathersCore
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSync

@Suite("Outbox files that are damaged or foreign", .timeLimit(.minutes(10)))
struct DamagedJournalTests {
    private let folder: OutboxFolder

    init() throws { folder = try OutboxFolder() }

    /// A closed file with 100 pending writes.
    private func file() throws -> [UInt8] {
        let journal = try Journal(folder.file)
        for number in 0..<100 {
            try journal.append(.added(.sample(number, data: .string(String(repeating: "x", count: 500)))))
        }
        journal.close()
        return try folder.bytes(of: "writes.outbox")
    }

    private func expectRefusal(_ reason: String, _ folder: OutboxFolder, from: SourceLocation = #_sourceLocation) throws
    {
        let before = try folder.bytes(of: "writes.outbox")
        for _ in 0..<2 {
            #expect(sourceLocation: from) {
                try Journal(folder.file)
            } throws: {
                "\($0)".contains("The outbox file '\(folder.file.path)' cannot be used: ") && "\($0)".contains(reason)
                    && ($0 as? FeathersError)?.execution == .neverSent
            }
        }
        #expect(try folder.bytes(of: "writes.outbox") == before, sourceLocation: from)
    }

    @Test(
        "A file in the format before SQLite, and any other file, is refused, named, and left as it is",
        arguments: ["FOUTBOX\u{1}abcd", "FOUTBOX\u{1}" + String(repeating: "record", count: 1000), "x"])
    func foreign(_ text: String) throws {
        try folder.write(text.utf8, to: "writes.outbox")
        try expectRefusal("it is not an outbox file", folder)
    }

    @Test("The database of another program is refused, named, and left as it is")
    func otherProgram() throws {
        let schema = DatabaseSchema(application: 1, version: 1, statements: ["CREATE TABLE a (b)"])
        try Database.open("writes.outbox", in: SafeDirectory.make(folder.url.path), schema).close()
        try expectRefusal("it is not an outbox file", folder)
    }

    @Test("A later version is refused by its number, and left as it is")
    func laterVersion() throws {
        let database = try Database.open(
            "writes.outbox", in: SafeDirectory.make(folder.url.path), JournalTables.schema)
        try database.execute("PRAGMA user_version = 6")
        database.close()
        try expectRefusal("it has version 6; only 5 is supported", folder)
    }

    @Test("A file of an earlier version is set aside as it is, and an empty one takes its place")
    func earlierVersion() throws {
        let database = try Database.open(
            "writes.outbox", in: SafeDirectory.make(folder.url.path), JournalTables.schema)
        try database.execute("PRAGMA user_version = 1")
        database.close()
        let bytes = try folder.bytes(of: "writes.outbox")
        let journal = try Journal(folder.file)
        #expect(journal.earlierFile == "writes.outbox.version1" && journal.takeOpened().isEmpty)
        try journal.append(.added(.sample(1)))
        journal.close()
        #expect(try Array(folder.bytes(of: "writes.outbox.version1")) == Array(bytes))
        let next = try Journal(folder.file)
        #expect(next.earlierFile == nil && next.takeOpened().count == 1)
        next.close()
    }

    @Test("With any damaged page of pending writes, it is refused, named, and left as it is")
    func damagedPages() throws {
        let bytes = try file()
        var refused = 0
        for page in 1..<bytes.count / 4096 {
            var damaged = bytes
            for index in page * 4096..<page * 4096 + 8 { damaged[index] = 0xFF }
            let copy = try OutboxFolder()
            try copy.write(damaged, to: "writes.outbox")
            guard let journal = try? Journal(copy.file) else {
                refused += 1
                try expectRefusal("it is damaged", copy)
                continue
            }
            // The page of an index or of an empty table: each write is found.
            #expect(journal.takeOpened().count == 100, "page \(page + 1)")
        }
        #expect(refused > 10)
    }

    @Test(
        "A write that cannot be read is damage, too",
        arguments: [
            "id = 'x'", "key = ''", "data = '{'", "query = 'x'", "record = '['", "failure = '{}'",
            #"failure = '{"reason":"dreamt"}'"#,
        ])
    func damagedRow(_ change: String) throws {
        _ = try file()
        let database = try Database.open(
            "writes.outbox", in: SafeDirectory.make(folder.url.path), JournalTables.schema)
        try database.execute("UPDATE writes SET \(change) WHERE number = 50")
        database.close()
        try expectRefusal("it is damaged (write 50 cannot be read)", folder)
    }

    @Test("A log without its database is refused: it may contain queued writes")
    func logOnly() throws {
        let journal = try Journal(folder.file)
        try journal.append(.added(.sample(1)))
        let copy = try folder.copy()
        let log = try copy.bytes(of: "writes.outbox-wal")
        try FileManager.default.removeItem(at: copy.file)
        #expect { try Journal(copy.file) } throws: { "\($0)".contains("but its log '\(copy.file.path)-wal' is not") }
        #expect(try copy.bytes(of: "writes.outbox-wal") == log)
    }
}
