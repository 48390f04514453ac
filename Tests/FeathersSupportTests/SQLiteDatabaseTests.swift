import FeathersSupport
import Foundation
import Testing

@Suite("Databases", .timeLimit(.minutes(10)))
struct SQLiteDatabaseTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "A value is read as it was written",
        arguments: [
            .null, .integer(.min), .integer(.max), .double(0.1), .double(-.infinity), .text(""), .text("a\0ü😀"),
            .blob([]), .blob([0, 255]),
        ] as [SQLiteValue])
    func values(_ value: SQLiteValue) throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE any (value)")
        try database.execute("INSERT INTO any VALUES (?)", value)
        let read = try database.rows("SELECT value, typeof(value) FROM any") { row -> SQLiteValue in
            switch row.text(1) {
            case "integer": row.integer(0).map { .integer($0) } ?? .null
            case "real": row.double(0).map { .double($0) } ?? .null
            case "text": row.text(0).map { .text($0) } ?? .null
            case "blob": row.bytes(0).map { .blob($0) } ?? .null
            default: .null
            }
        }
        #expect(read == [value])
    }

    @Test("Text as bytes is text")
    func utf8() throws {
        let database = try folder.open()
        try database.execute("INSERT INTO texts (text) VALUES (?)", .utf8(Array("ü".utf8)))
        #expect(try database.integer("SELECT count(*) FROM texts WHERE text = 'ü' AND typeof(text) = 'text'") == 1)
    }

    @Test("What is written is there after closing, after dropping, and for a copy without either")
    func reopening() throws {
        var database: Database? = try folder.open()
        try database?.add("a")
        database?.close()
        #expect(try folder.names() == ["data"])
        database = try folder.open()
        try database?.add("b")
        database = nil
        #expect(try folder.bytes(of: "data-wal").count > 0)
        database = try folder.open()
        try database?.add("c")
        let copy = try TemporaryFolder()
        try folder.copy(to: copy)
        #expect(try copy.open().texts == ["a", "b", "c"])
    }

    @Test("A transaction that throws changes nothing, and the next one goes on")
    func transactions() throws {
        let database = try folder.open()
        try database.transaction { try database.add("a", "b") }
        #expect(throws: CancellationError.self) {
            try database.transaction {
                try database.add("c")
                throw CancellationError()
            }
        }
        #expect(throws: DatabaseFailure.self) {
            try database.transaction { try database.execute("INSERT INTO texts (number) VALUES (1)") }
        }
        try database.transaction { try database.add("d") }
        #expect(try database.texts == ["a", "b", "d"])
    }

    @Test("A full disk takes a transaction as a whole or not at all, and works again with room")
    func full() throws {
        let database = try folder.open()
        try database.add("a")
        try database.execute("PRAGMA max_page_count = 3")
        #expect {
            try database.transaction { try database.add("b", String(repeating: "x", count: 100_000)) }
        } throws: {
            "\($0)" == "'\(folder.path("data"))' cannot be used: the disk is full"
        }
        #expect(try database.texts == ["a"])
        try database.execute("PRAGMA max_page_count = 1000000")
        try database.transaction { try database.add("b") }
        #expect(try database.texts == ["a", "b"])
    }

    @Test("A process that is killed after any statement leaves whole transactions, and all that have ended")
    func killed() throws {
        let database = try folder.open()
        var ended = 0
        var statements = 0
        database.onStatement = {
            statements += 1
            do {
                let copy = try TemporaryFolder()
                try folder.copy(to: copy)
                let count = try copy.open().texts.count
                #expect(count == ended || count == ended + 3, "after statement \(statements)")
            } catch {
                Issue.record("after statement \(statements): \(error)")
            }
        }
        for _ in 0..<5 {
            try database.transaction { try database.add("a", "b", "c") }
            ended += 3
        }
        #expect(statements == 25)
    }

    @Test("A log that the power cut at any byte has whole transactions, and all that had ended before it")
    func cut() throws {
        let database = try folder.open()
        // The log's length after each transaction, which is flushed.
        var lengths: [Int] = []
        for number in 0..<4 {
            try database.transaction { try database.add("a\(number)", "b\(number)") }
            lengths.append(try folder.bytes(of: "data-wal").count)
        }
        let (main, log) = (try folder.bytes(of: "data"), try folder.bytes(of: "data-wal"))
        let first = try #require(lengths.first)
        let cuts = Set(stride(from: first, through: log.count, by: 97)).union(lengths.flatMap { [$0 - 1, $0, $0 + 1] })
        for length in cuts where length >= first && length <= log.count {
            for tail in [0, 4096] {
                let copy = try TemporaryFolder()
                try copy.write(main, to: "data")
                // Where a file system had no time to write, it leaves zeros.
                try copy.write(log[..<length] + [UInt8](repeating: 0, count: tail), to: "data-wal")
                #expect(try copy.open().texts.count == 2 * lengths.count { $0 <= length }, "cut at \(length)")
            }
        }
    }

    @Test("A reader sees what has ended, changes nothing, and notices changes by a number")
    func readers() throws {
        #expect(try folder.openForReading() == nil)
        let database = try folder.open()
        try database.add("a")
        let reader = try #require(try folder.openForReading())
        let before = try reader.dataVersion
        #expect(try reader.texts == ["a"])
        #expect(throws: DatabaseFailure.self) { try reader.add("b") }
        #expect(try reader.dataVersion == before)
        try database.transaction {
            try database.add("c")
            #expect(try reader.texts == ["a"])
        }
        #expect(try reader.dataVersion != before)
        #expect(try reader.texts == ["a", "c"])
    }

    @Test("A reader opens what a killed process has left, and leaves the log in place")
    func readerAfterKill() throws {
        let database = try folder.open()
        try database.add("a")
        let copy = try TemporaryFolder()
        try folder.copy(to: copy)
        let log = try copy.bytes(of: "data-wal")
        try #require(try copy.openForReading()).close()
        #expect(try copy.bytes(of: "data-wal") == log)
        #expect(try copy.open().texts == ["a"])
    }

    @Test("What is removed is in no file after a checkpoint")
    func removed() throws {
        let database = try folder.open()
        try database.add("secret-7f3a")
        try database.execute("DELETE FROM texts")
        try database.checkpoint()
        for name in try folder.names() where name != "data-shm" {
            #expect(!String(decoding: try folder.bytes(of: name), as: UTF8.self).contains("secret-7f3a"))
        }
    }

    @Test("After much was stored and removed, the next opening makes the file small again")
    func shrinking() throws {
        let database = try folder.open()
        try database.transaction {
            for _ in 0..<100 { try database.add(String(repeating: "x", count: 100_000)) }
        }
        try database.execute("DELETE FROM texts WHERE number < 100")
        database.close()
        #expect(try folder.bytes(of: "data").count > 9_000_000)
        let next = try folder.open()
        #expect(try next.texts.count == 1)
        next.close()
        #expect(try folder.bytes(of: "data").count < 200_000)
    }
}
