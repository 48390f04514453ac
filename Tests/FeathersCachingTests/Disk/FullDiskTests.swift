import CacheWriter
import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersCaching

@Suite("Disk caches on full disks", .timeLimit(.minutes(10)))
struct FullDiskTests {
    /// Runs a writer until a file has no room, and returns what it said.
    private func write(in directory: TemporaryDirectory) async throws -> String {
        try await SiblingProgram.run(
            withFilesOfAtMost: 200,
            [SiblingProgram.url("CacheWriter").path, directory.url.path, "60000", "\(getpid())"])
    }

    @Test("A write that finds no room says so, and leaves whole answers and nothing half-written")
    func full() async throws {
        let directory = TemporaryDirectory()
        for _ in 0..<3 {
            #expect(try await write(in: directory).contains("disk I/O error"))
            let storage = DiskCacheStorage(directory: directory.url, byteLimit: 60_000)
            for number in 0..<WrittenAnswer.count {
                guard let entry = try await storage.entry(for: WrittenAnswer.key(number)) else { continue }
                #expect(WrittenAnswer.isWhole(entry, number))
            }
        }
    }
}
