import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("The log of an outbox's file", .timeLimit(.minutes(10)))
struct JournalLogTests {
    private static let secret = "secret-7f3a"

    private let folder: OutboxFolder
    private let clock = ManualClock()

    init() throws { folder = try OutboxFolder() }

    private func writer() async throws -> JournalWriter {
        let writer = JournalWriter(folder.file, logClock: clock)
        _ = try await writer.open()
        return writer
    }

    /// The files of the folder that contain the secret.
    private func traces() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted().filter {
            try Data(folder.bytes(of: $0)).range(of: Data(Self.secret.utf8)) != nil
        }
    }

    /// A write with the secret that has left the outbox.
    private func send(_ writer: JournalWriter) async throws {
        try await writer.append(.added(.sample(1, data: .string(Self.secret))))
        try await writer.append(.begun(.sample(1)))
        try await writer.append(.ended(.sample(1)))
        #expect(try traces() == ["writes.outbox-wal"])
    }

    /// Lets the delay pass until the log is empty.
    private func pass(_ writer: JournalWriter) async throws {
        let emptying = await writer.emptying
        try await clock.waitForSleepers(1)
        clock.advance(by: Database.checkpointDelay)
        await emptying?.value
    }

    @Test("A write that has left the outbox is in no file a few seconds later")
    func removed() async throws {
        let writer = try await writer()
        try await send(writer)
        try await pass(writer)
        #expect(try traces() == [])
        #expect(Database.checkpointDelay < .seconds(60))
        await writer.close()
    }

    @Test("Accepted writes are in the database itself a few seconds later, so that damage to the log loses none")
    func accepted() async throws {
        let writer = try await writer()
        for number in 1...20 { try await writer.append(.added(.sample(number))) }
        #expect(try !folder.bytes(of: "writes.outbox-wal").isEmpty)
        try await pass(writer)
        #expect(try folder.bytes(of: "writes.outbox-wal").isEmpty)
        let copy = try OutboxFolder()
        try copy.write(folder.bytes(of: "writes.outbox"), to: "writes.outbox")
        #expect(try Journal(copy.file).takeOpened().count == 20)
        await writer.close()
    }

    @Test("While another process reads, the log is tried again, and the write is gone once that has ended")
    func reader() async throws {
        let writer = try await writer()
        try await writer.append(.added(.sample(2)))
        let directory = try SafeDirectory.make(folder.url.path)
        let reader = try #require(
            try Database.openForReading("writes.outbox", in: directory, JournalTables.schema))
        try reader.execute("BEGIN")
        #expect(try JournalTables.writes(in: reader).count == 1)
        try await send(writer)
        try await pass(writer)
        #expect(try traces() == ["writes.outbox-wal"])
        try reader.execute("COMMIT")
        try await pass(writer)
        #expect(try traces() == [])
        #expect(try JournalTables.writes(in: reader).count == 1)
        await writer.close()
    }

    @Test("Closing leaves it in no file, also while another process has the file open, and ends the delay")
    func closing() async throws {
        let writer = try await writer()
        try await writer.append(.added(.sample(2)))
        let directory = try SafeDirectory.make(folder.url.path)
        let reader = try #require(
            try Database.openForReading("writes.outbox", in: directory, JournalTables.schema))
        #expect(try JournalTables.writes(in: reader).count == 1)
        try await send(writer)
        await writer.close()
        #expect(try traces() == [])
        // A later process finds the other write.
        let later = try await self.writer()
        #expect(try await later.read { try JournalTables.writes(in: $0).count } == 1)
        await later.close()
        #expect(try traces() == [])
    }

    @Test("What a killed process has left there is gone once the next one has opened the file")
    func killed() async throws {
        let writer = try await writer()
        try await send(writer)
        // The copy is removed with its object.
        try withExtendedLifetime(folder.copy()) { copy in
            let next = try Journal(copy.file)
            for name in try FileManager.default.contentsOfDirectory(atPath: copy.url.path) {
                #expect(try Data(copy.bytes(of: name)).range(of: Data(Self.secret.utf8)) == nil, "\(name)")
            }
            next.close()
        }
        await writer.close()
    }
}
