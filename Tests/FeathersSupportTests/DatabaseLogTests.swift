import FeathersSupport
import Foundation
import Testing

@Suite("What was removed, and a database's log", .timeLimit(.minutes(10)))
struct DatabaseLogTests {
    private static let secret = "secret-7f3a"

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The files of the folder that contain the secret.
    private func traces() throws -> [String] {
        try folder.names().filter { try Data(folder.bytes(of: $0)).range(of: Data(Self.secret.utf8)) != nil }
    }

    /// A database that contained the secret, in the database itself and on pages of its own.
    private func database() throws -> Database {
        let database = try folder.open()
        try database.add(Self.secret, String(repeating: Self.secret, count: 1000))
        try database.checkpoint()
        #expect(try traces() == ["data"])
        try database.execute("DELETE FROM texts")
        #expect(try traces() == ["data"])
        return database
    }

    @Test("A checkpoint leaves it in no file")
    func checkpoint() throws {
        let database = try database()
        #expect(try database.checkpoint())
        #expect(try traces() == [])
        #expect(try folder.bytes(of: "data-wal").isEmpty)
    }

    @Test("While another process reads what was there, a checkpoint says so in time; afterward, it leaves nothing")
    func busy() throws {
        let database = try database()
        let reader = try #require(try folder.openForReading())
        try database.add("a")
        try reader.snapshot {
            #expect(try reader.texts == ["a"])
            try database.execute("DELETE FROM texts")
            #expect(try !database.checkpoint(waitingAtMost: .milliseconds(1)))
            #expect(try reader.texts == ["a"])
        }
        #expect(try database.checkpoint(waitingAtMost: .milliseconds(1)))
        #expect(try traces() == [])
        #expect(try reader.texts == [])
    }

    @Test("Closing leaves it in no file, even while another process has the database open")
    func closing() throws {
        let database = try database()
        let reader = try #require(try folder.openForReading())
        #expect(try reader.texts == [])
        database.close()
        #expect(try traces() == [])
        #expect(try reader.texts == [])
    }

    @Test("What a killed process has left in the log is gone once the next one has opened the database")
    func opening() throws {
        let first = try folder.open()
        try first.add(Self.secret)
        try first.execute("DELETE FROM texts")
        let copy = try TemporaryFolder()
        try folder.copy(to: copy)
        #expect(String(decoding: try copy.bytes(of: "data-wal"), as: UTF8.self).contains(Self.secret))
        let next = try copy.open()
        for name in try copy.names() {
            #expect(!String(decoding: try copy.bytes(of: name), as: UTF8.self).contains(Self.secret), "\(name)")
        }
        #expect(try next.texts == [])
    }
}
