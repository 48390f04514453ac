import FeathersSupport
import Foundation
import Testing

@Suite("Databases that are refused", .timeLimit(.minutes(10)))
struct SQLiteRefusalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Opens the database, for writing and for reading, and expects both to fail with a reason that names the file.
    private func expectRefusal(_ reason: String, _ name: String = "data", from: SourceLocation = #_sourceLocation) {
        for isReading in [false, true] {
            #expect(sourceLocation: from) {
                _ = isReading ? try folder.openForReading() : try folder.open()
            } throws: {
                "\($0)".contains("'\(folder.path(name))'") && "\($0)".contains(reason)
            }
        }
    }

    @Test("Without the library, the error names it and how to get it, and no file is made")
    func library() throws {
        SQLiteLibrary.$name.withValue("libsqlite3-hidden.so.0") {
            #expect { try folder.open() } throws: {
                "\($0)".contains("'libsqlite3-hidden.so.0' could not be loaded")
                    && "\($0)".contains("package libsqlite3-0") && "\($0)".contains(folder.path("data"))
            }
        }
        #expect(try folder.names() == [])
        #expect(try folder.open().texts == [])
    }

    @Test("A library that is not SQLite counts as missing")
    func otherLibrary() throws {
        SQLiteLibrary.$name.withValue("libc.so.6") { #expect(throws: DatabaseFailure.self) { try folder.open() } }
    }

    @Test(
        "A file that is not a database is refused and left as it is",
        arguments: ["x", "FOUTBOX\u{1}abcd", String(repeating: "something else", count: 1000)])
    func notADatabase(_ text: String) throws {
        try folder.write(Array(text.utf8), to: "data")
        expectRefusal("it is not a database")
        #expect(try folder.text(of: "data") == text)
        #expect(try folder.names().allSatisfy { $0 == "data" })
    }

    @Test("The database of another program, and that of another version, are refused and left as they are")
    func foreign() throws {
        try folder.open("data", DatabaseSchema(application: 1, version: 1, statements: ["CREATE TABLE a (b)"])).close()
        var bytes = try folder.bytes(of: "data")
        expectRefusal("it is the database of another program")
        #expect(try folder.bytes(of: "data") == bytes)

        try FileManager.default.removeItem(atPath: folder.path("data"))
        try folder.open("data", DatabaseSchema(application: 0x4653_414D, version: 2, statements: [])).close()
        bytes = try folder.bytes(of: "data")
        expectRefusal("it has version 2; only 1 is supported")
        #expect(try folder.bytes(of: "data") == bytes)
    }

    @Test("A damaged page is refused when it is read, and left as it is")
    func damaged() throws {
        let database = try folder.open()
        for _ in 0..<100 { try database.add(String(repeating: "x", count: 1000)) }
        database.close()
        let bytes = try folder.bytes(of: "data")
        // The second page maps the others, and is needed for shrinking only.
        for page in 2..<bytes.count / 4096 {
            var damaged = bytes
            for index in page * 4096..<page * 4096 + 8 { damaged[index] = 0xFF }
            let copy = try TemporaryFolder()
            try copy.write(damaged, to: "data")
            #expect("page \(page + 1)") {
                _ = try copy.open().texts
            } throws: {
                "\($0)".contains("'\(copy.path("data"))' cannot be used: it is damaged (")
            }
            #expect(try copy.bytes(of: "data") == damaged)
        }
    }

    @Test("A file that ends too early is damaged")
    func truncated() throws {
        let database = try folder.open()
        for _ in 0..<100 { try database.add(String(repeating: "x", count: 1000)) }
        database.close()
        let bytes = try folder.bytes(of: "data")
        for count in [1, 99, 100, 511, 512, 4096, 8192, bytes.count - 4096] {
            let copy = try TemporaryFolder()
            try copy.write(Array(bytes[..<count]), to: "data")
            #expect(throws: DatabaseFailure.self, "\(count) bytes") { try copy.open().texts }
            #expect(try copy.bytes(of: "data").count == count)
        }
    }

    @Test("A log whose database was removed or emptied is refused, because SQLite would remove it")
    func logOnly() throws {
        let database = try folder.open()
        try database.add("a")
        let copy = try TemporaryFolder()
        try folder.copy(to: copy)
        try FileManager.default.removeItem(atPath: copy.path("data"))
        for isEmpty in [false, true] {
            if isEmpty { try copy.write([], to: "data") }
            #expect { try copy.open() } throws: { "\($0)".contains("but its log '\(copy.path("data-wal"))' is not") }
            #expect(try copy.bytes(of: "data-wal") == folder.bytes(of: "data-wal"))
        }
    }

    @Test("A link, a second name, a FIFO and a file others can write to are refused", arguments: ["data", "data-wal"])
    func unsafe(_ name: String) throws {
        var database: Database? = try folder.open()
        try database?.add("a")
        database = nil
        let (path, other) = (folder.path(name), folder.path("other"))
        try FileManager.default.moveItem(atPath: path, toPath: other)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        expectRefusal("is a link", name)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.linkItem(atPath: other, toPath: path)
        expectRefusal("second name", name)
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        expectRefusal("it is not a regular file", name)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: other, toPath: path)
        #expect(chmod(path, 0o666) == 0)
        expectRefusal("its mode 666", name)
        #expect(chmod(path, 0o600) == 0)
        #expect(try folder.open().texts == ["a"])
    }

    @Test("A database is private, and so is what SQLite makes beside it")
    func mode() throws {
        let database = try folder.open()
        try database.add("a")
        for name in try folder.names() { #expect(try folder.mode(name) == 0o600) }
        #expect(try folder.names() == ["data", "data-shm", "data-wal"])
    }

    @Test("A directory whose path leads over a link is opened, because it was checked")
    func linkAbove() throws {
        _ = try SafeDirectory.make(folder.path("real/inner"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("real"))
        let directory = try SafeDirectory.make(folder.path("link/inner"))
        try Database.open("data", in: directory, .sample).add("a")
        #expect(FileManager.default.fileExists(atPath: folder.path("real/inner/data")))
    }
}
