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
        let (writer, path) = (SiblingProgram.url("CacheWriter").path, directory.url.path)
        return try await SiblingProgram.onThread {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: "/bin/sh")
            // A limit to the size of files ends a write as a full disk does: halfway, and with an error.
            // Thread Sanitizer begins with a larger file in TMPDIR, unless there is no such folder.
            let script =
                #"trap '' XFSZ; ulimit -c 0; ulimit -f 200; export SWIFT_BACKTRACE=enable=no TMPDIR=/dev/null; "#
                + #"exec "$0" "$@""#
            process.arguments = ["-c", script, writer, path, "60000", "\(getpid())"]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = output
            try process.run()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: text, as: UTF8.self)
        }
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
