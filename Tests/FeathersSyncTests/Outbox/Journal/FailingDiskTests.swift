import FeathersCore
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

@Suite("Outboxes on disks that fail", .timeLimit(.minutes(10)))
struct FailingDiskTests {
    private let folder: OutboxFolder

    init() throws { folder = try OutboxFolder() }

    @Test("On a full disk, records are refused together and leave nothing behind; with room, the next are taken")
    func full() throws {
        let journal = try Journal(folder.file)
        try journal.append(.added(.sample(1)))
        let pages = try #require(try journal.database.integer("PRAGMA page_count"))
        let large = JSONValue.string(String(repeating: "x", count: 20_000))
        for room in 0..<5 {
            try journal.database.execute("PRAGMA max_page_count = \(pages + Int64(room))")
            #expect {
                _ = try journal.append(
                    [Journal.entry(.added(.sample(2))), Journal.entry(.added(.sample(3, data: large)))])
            } throws: {
                "\($0)".contains("'\(folder.file.path)' cannot be written: the disk is full")
                    && ($0 as? FeathersError)?.execution == .neverSent
            }
            #expect(try folder.found().map(\.write) == [.sample(1)])
        }
        try journal.database.execute("PRAGMA max_page_count = 1000000")
        try journal.append(.added(.sample(2)), .added(.sample(3, data: large)))
        #expect(try folder.found().map(\.write.id) == [.sample(1), .sample(2), .sample(3)])
    }

    @Test("What a disk could not store counts toward no limit")
    func limits() throws {
        let journal = try Journal(folder.file, limits: Journal.Limits(writes: 1))
        try journal.database.execute("PRAGMA query_only = ON")
        for _ in 0..<3 {
            #expect { try journal.append(.added(.sample(1))) } throws: { "\($0)".contains("cannot be written") }
        }
        try journal.database.execute("PRAGMA query_only = OFF")
        try journal.append(.added(.sample(1)))
    }

    @Test("Each write that a process acknowledged before its disk was full is found", arguments: [220, 260, 320])
    func process(blocks: Int) async throws {
        let acknowledged = folder.url.appending(path: "acknowledged")
        let arguments = [
            SiblingProgram.url("OutboxWriter").path, folder.file.path, acknowledged.path, "http://127.0.0.1:1",
            "offline", "0", "\(getpid())",
        ]
        let text = try await SiblingProgram.run(withFilesOfAtMost: blocks, arguments)
        #expect(text.contains("cannot be written: disk I/O error"))
        let lines = try String(contentsOf: acknowledged, encoding: .utf8).split(separator: "\n")
        let keys = lines.compactMap { $0.split(separator: " ").first.map(String.init) }
        let found = Set(try folder.found().map(\.write.key.text))
        #expect(!keys.isEmpty && found.isSuperset(of: keys))
        // The limit belongs to that process: here there is room.
        let journal = try Journal(folder.file)
        try journal.append(.added(.sample(1)))
        journal.close()
    }
}
