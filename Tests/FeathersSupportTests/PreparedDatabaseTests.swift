import FeathersSupport
import Foundation
import Testing

@Suite("Databases that someone has prepared", .timeLimit(.minutes(10)))
struct PreparedDatabaseTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Creates a database that has the numbers of the sample's, and other tables.
    private func prepare(_ statements: [String]) throws {
        let schema = DatabaseSchema(application: 0x4653_414D, version: 1, statements: statements)
        try folder.open("data", schema).close()
    }

    private static let table = "CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT)"

    @Test(
        "Anything in the schema that is not ours is refused, named, and left as it is",
        arguments: [
            ([table, "CREATE TRIGGER t AFTER INSERT ON texts BEGIN DELETE FROM texts; END"], "the trigger 't'"),
            ([table, "CREATE VIEW v AS SELECT 1"], "the view 'v'"),
            (["CREATE VIEW texts AS SELECT 1 AS number, 'x' AS text"], "the "),
            ([table, "CREATE TABLE other (a)"], "the table 'other'"),
            ([table, "CREATE INDEX i ON texts (text)"], "the index 'i'"),
            ([table, "CREATE UNIQUE INDEX i ON texts (abs(text))"], "the index 'i'"),
            (["CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT AS (1))"], "the table 'texts'"),
            (["CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT CHECK (text <> 'a'))"], "the table 'texts'"),
            (["CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT DEFAULT (1))"], "the table 'texts'"),
            (["CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT) STRICT"], "the table 'texts'"),
            (["CREATE TABLE texts (number INTEGER PRIMARY KEY,  text TEXT)"], "the table 'texts'"),
            (["CREATE TABLE Texts (number INTEGER PRIMARY KEY, text TEXT)"], "the table 'Texts'"),
            (["CREATE TABLE texts (number INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT)"], "the table "),
            ([], "the table 'texts'"),
        ] as [([String], String)])
    func schema(_ statements: [String], _ object: String) throws {
        try prepare(statements)
        let bytes = try folder.bytes(of: "data")
        for isReading in [false, true] {
            #expect {
                _ = isReading ? try folder.openForReading() : try folder.open()
            } throws: {
                "\($0)".contains("'\(folder.path("data"))' cannot be used: its tables are not as this package")
                    && "\($0)".contains(object)
            }
        }
        #expect(try folder.bytes(of: "data") == bytes)
    }

    @Test("A trigger that comes once the database is open does not run")
    func laterTrigger() throws {
        let database = try folder.open()
        try database.execute("CREATE TRIGGER t AFTER INSERT ON texts BEGIN DELETE FROM texts; END")
        try database.execute("CREATE VIEW v AS SELECT text FROM texts")
        try database.add("a")
        #expect(try database.texts == ["a"])
        #expect(throws: DatabaseFailure.self) { try database.rows("SELECT * FROM v") { $0.text(0) } }
    }

    @Test("A file in which a page leads to itself a hundred times, level after level, is given up in time")
    func endless() throws {
        let database = try folder.open()
        try database.transaction {
            for _ in 0..<200 { try database.add(String(repeating: "x", count: 1000)) }
        }
        let root = Int(try #require(try database.integer("SELECT rootpage FROM sqlite_master WHERE name = 'texts'")))
        database.close()
        var bytes = try folder.bytes(of: "data")
        let size = 4096
        #expect(bytes[(root - 1) * size] == 5, "the root is an inner page")
        // A leaf below the root, at whose place all paths end.
        func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        func child(_ page: Int) -> Int {
            bytes[((page - 1) * size + 8)..<((page - 1) * size + 12)].reduce(0) { $0 << 8 | Int($1) }
        }
        let leaf = child(root)
        // Inner pages at the end of the file, each with a hundred cells that all lead to the next one.
        let count = 12
        let first = bytes.count / size + 1
        func inner(to next: Int) -> [UInt8] {
            var page = [UInt8](repeating: 0, count: size)
            let cells = 100
            page[0] = 5
            (page[3], page[4]) = (0, UInt8(cells))
            let start = size - 5 * cells
            (page[5], page[6]) = (UInt8(start >> 8), UInt8(start & 0xFF))
            page.replaceSubrange(8..<12, with: word(next))
            for cell in 0..<cells {
                let offset = start + 5 * cell
                (page[12 + 2 * cell], page[13 + 2 * cell]) = (UInt8(offset >> 8), UInt8(offset & 0xFF))
                page.replaceSubrange(offset..<offset + 4, with: word(next))
                page[offset + 4] = 1
            }
            return page
        }
        for level in 0..<count { bytes += inner(to: level == count - 1 ? leaf : first + level + 1) }
        bytes.replaceSubrange(((root - 1) * size)..<(root * size), with: inner(to: first))
        bytes.replaceSubrange(28..<32, with: word(bytes.count / size))
        try folder.write(bytes, to: "data")

        let opened = try folder.open()
        #expect {
            try opened.limited(to: .milliseconds(100)) { try opened.integer("SELECT sum(length(text)) FROM texts") }
        } throws: {
            "\($0)".contains("it is damaged (reading it takes too long)")
        }
    }

    @Test(
        "A number that cannot be ours is damage, not a trap",
        arguments: [
            .integer(-1), .integer(.max), .integer(.min), .integer(1 << 41), .double(0.5), .double(.infinity),
            .text("1"), .text("x"), .blob([1]),
        ] as [SQLiteValue])
    func numbers(_ value: SQLiteValue) throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE any (value)")
        try database.execute("INSERT INTO any VALUES (?)", value)
        #expect { try database.number("SELECT value FROM any") } throws: { "\($0)".contains("it is damaged (a number") }
        #expect(throws: DatabaseFailure.self) { try database.rows("SELECT value FROM any") { try $0.flag(0) } }
    }

    @Test(
        "A date that cannot be ours is damage",
        arguments: [.double(.infinity), .double(-1e12), .integer(.max), .text("now"), .blob([])] as [SQLiteValue])
    func dates(_ value: SQLiteValue) throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE any (value)")
        try database.execute("INSERT INTO any VALUES (?)", value)
        #expect { try database.rows("SELECT value FROM any") { try $0.date(0) } } throws: {
            "\($0)".contains("it is damaged (a date")
        }
    }

    @Test("What is stored is read as it was written, and null is nil")
    func values() throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE any (n, f, d, t, z)")
        let date = Date(timeIntervalSinceReferenceDate: 7e8 + 0.25)
        try database.execute(
            "INSERT INTO any VALUES (?, ?, ?, ?, ?)", SQLiteValue(1 << 40), SQLiteValue(true),
            .double(date.timeIntervalSinceReferenceDate), .text("ü\0"), .null)
        try database.forEachRow("SELECT * FROM any", []) { row in
            let (number, flag, read, text) = (try row.number(0), try row.flag(1), try row.date(2), try row.string(3))
            #expect(number == 1 << 40 && flag && read == date && text == "ü\0")
            let (noNumber, noDate, noText) = (try row.number(4), try row.date(4), try row.string(4))
            #expect(noNumber == nil && noDate == nil && noText == nil)
            #expect(throws: DatabaseFailure.self) { try row.requiredNumber(4) }
            #expect(throws: DatabaseFailure.self) { try row.string(0) }
        }
    }

    @Test("Text that is not UTF-8 is damage, rather than another text")
    func text() throws {
        let database = try folder.open()
        try database.execute("INSERT INTO texts (text) VALUES (CAST(x'61FF' AS TEXT))")
        #expect(throws: DatabaseFailure.self) { try database.rows("SELECT text FROM texts") { try $0.string(0) } }
    }
}
