import CacheWriter
import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersCaching

@Suite("Killing the writers of a disk cache", .inTurn, .timeLimit(.minutes(10)))
struct DiskCacheKillTests {
    private static let byteLimit = 60_000

    /// Starts a writer and returns when it is about to write.
    private func start(in directory: TemporaryDirectory) async throws -> ChildProcess {
        try await SiblingProgram.onThread {
            let process = ChildProcess()
            let output = Pipe()
            process.executableURL = SiblingProgram.url("CacheWriter")
            process.arguments = [directory.url.path, "\(Self.byteLimit)", "\(getpid())"]
            process.standardOutput = output
            try process.run()
            _ = try output.fileHandleForReading.nextBytes()
            return process
        }
    }

    @Test("200 writers, two at a time, killed at any moment, leave whole answers and no more than the limit")
    func killed() async throws {
        let directory = TemporaryDirectory()
        var found = 0
        for round in 0..<100 {
            let writers = try await [start(in: directory), start(in: directory)]
            for writer in writers {
                // Chance is what is wanted here: nothing is waited for.
                try await Task.sleep(for: .microseconds(.random(in: 0..<6000)))
                kill(writer.processIdentifier, SIGKILL)
            }
            for writer in writers {
                try await SiblingProgram.onThread { writer.waitUntilExit() }
                #expect(writer.terminationReason == .uncaughtSignal && writer.terminationStatus == SIGKILL)
            }
            let storage = DiskCacheStorage(directory: directory.url, byteLimit: Self.byteLimit)
            var read = 0
            for number in 0..<WrittenAnswer.count {
                guard let entry = try await storage.entry(for: WrittenAnswer.key(number)) else { continue }
                #expect(WrittenAnswer.isWhole(entry, number))
                read += 1
            }
            #expect(try await storage.byteCount <= Self.byteLimit, "round \(round)")
            found += read
        }
        // The writers did come to write.
        #expect(found > 500)
    }
}
