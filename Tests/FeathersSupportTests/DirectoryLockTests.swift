import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@Suite("The lock of a directory", .timeLimit(.minutes(10)))
struct DirectoryLockTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func lock() -> DirectoryLock {
        DirectoryLock(path: folder.path("locked"), name: "lock", clock: RelativeClock(clock))
    }

    private func hold() throws -> OpenFile {
        try #require(try SafeDirectory.make(folder.path("locked")).lock("lock"))
    }

    @Test("One at a time, among all tasks and instances")
    func exclusion() async throws {
        let locks = (0..<3).map { _ in lock() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    try await locks[number % 3].withLock(waitingAtMost: .seconds(1)) { held in
                        let count = try held.file.read(upTo: 1).first ?? 0
                        try held.file.write([count + 1], at: 0)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try hold().read(upTo: 2) == [60])
    }

    @Test("It is waited for, and comes as soon as it is free")
    func waiting() async throws {
        let held = try hold()
        let lock = lock()
        async let first: Void = lock.withLock(waitingAtMost: .seconds(2)) { _ in }
        async let second: Void = lock.withLock(waitingAtMost: .seconds(2)) { _ in }
        try await clock.waitForSleepers(2)
        held.unlock()
        _ = try await (first, second)
    }

    @Test("It is not waited for longer than the limit, and is free again afterwards")
    func bounded() async throws {
        let held = try hold()
        let lock = lock()
        async let failure = #expect(throws: FileFailure.self) {
            try await lock.withLock(waitingAtMost: .seconds(2)) { _ in }
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await failure == FileFailure(folder.path("locked/lock"), .locked))
        held.unlock()
        // Whoever comes next is served, by the thread that still waits or without it.
        try await lock.withLock(waitingAtMost: .seconds(2)) { _ in }
        try await self.lock().withLock(waitingAtMost: .seconds(2)) { _ in }
    }

    @Test("A cancelled task stops waiting")
    func cancelled() async throws {
        let held = try hold()
        let lock = lock()
        let waiting = Task { try await lock.withLock(waitingAtMost: .seconds(2)) { _ in } }
        try await clock.waitForSleepers(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        held.unlock()
        try await lock.withLock(waitingAtMost: .seconds(2)) { _ in }
    }

    @Test("A directory that is removed while its lock is waited for is made again")
    func removed() async throws {
        let held = try hold()
        let lock = lock()
        async let written: Void = lock.withLock(waitingAtMost: .seconds(2)) { held in
            try held.directory.replace("file", with: [1], draft: "draft")
        }
        try await clock.waitForSleepers(1)
        try FileManager.default.removeItem(atPath: folder.path("locked"))
        held.unlock()
        try await written
        #expect(FileManager.default.fileExists(atPath: folder.path("locked/file")))
    }

    @Test("The directory that is kept open is used only while its path leads to it and nobody else may write to it")
    func replaced() async throws {
        let (lock, path) = (lock(), folder.path("locked"))
        func write() async throws {
            try await lock.withLock(waitingAtMost: .seconds(2)) { held in
                try held.directory.replace("file", with: [1], draft: "draft")
            }
        }
        try await write()
        #expect(chmod(path, 0o777) == 0)
        await #expect(throws: FileFailure.self) { try await write() }
        #expect(chmod(path, 0o700) == 0)

        try FileManager.default.moveItem(atPath: path, toPath: folder.path("moved"))
        try FileManager.default.removeItem(atPath: folder.path("moved/file"))
        try await write()
        #expect(FileManager.default.fileExists(atPath: folder.path("locked/file")))

        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path("moved"))
        await #expect(throws: FileFailure.self) { try await write() }
        #expect(!FileManager.default.fileExists(atPath: folder.path("moved/file")))
    }

    @Test("What the body throws is thrown, and the lock is free afterwards")
    func failure() async throws {
        struct Refused: Error {}
        let lock = lock()
        await #expect(throws: Refused.self) {
            try await lock.withLock(waitingAtMost: .seconds(2)) { _ in throw Refused() }
        }
        _ = try hold()
    }
}
