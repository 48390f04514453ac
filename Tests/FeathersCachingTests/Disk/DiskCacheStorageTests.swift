import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCaching

@Suite("The disk cache", .timeLimit(.minutes(10)))
struct DiskCacheStorageTests {
    private let directory = TemporaryDirectory()

    private func key(_ number: Int, _ group: String = "g") -> CacheKey { CacheKey(text: "key \(number)", group: group) }

    /// An answer whose file takes about a thousand bytes.
    private let thousand = CacheEntry(value: .string(String(repeating: "x", count: 900)))

    private func storage(_ limit: Int = 1_000_000) -> DiskCacheStorage {
        DiskCacheStorage(directory: directory.url, byteLimit: limit)
    }

    @Test("Answers outlive the instance, and the order of their use does, to the minute")
    func outlives() async throws {
        let first = storage(3500)
        for number in 1...3 {
            try await first.set(thousand, for: key(number))
            let attributes = [
                FileAttributeKey.modificationDate: Date.now.addingTimeInterval(Double(number) * 100 - 1000)
            ]
            try FileManager.default.setAttributes(
                attributes, ofItemAtPath: directory.url.appending(path: key(number).fileName).path)
        }
        #expect(try await first.entry(for: key(1)) == thousand)
        let second = storage(3500)
        try await second.set(thousand, for: key(4))
        #expect(try await second.entry(for: key(2)) == nil)
        for number in [1, 3, 4] { #expect(try await second.entry(for: key(number)) == thousand) }
    }

    @Test("The limit holds after every write, and what was not used for longest goes first")
    func limit() async throws {
        let storage = storage(5000)
        for number in 0..<50 {
            try await storage.set(thousand, for: key(number))
            #expect(try directory.byteCount() <= 5000)
            let known = try await storage.byteCount
            #expect(try directory.byteCount() == known)
            // Used again and again, it stays, though it never was written again.
            #expect(try await storage.entry(for: key(0)) == thousand)
        }
        #expect(try await storage.entry(for: key(49)) == thousand)
        #expect(try await storage.entry(for: key(40)) == nil)
        try await storage.set(CacheEntry(value: .string(String(repeating: "x", count: 6000))), for: key(49))
        #expect(try await storage.entry(for: key(49)) == nil)
        #expect(try await storage.entry(for: key(0)) == thousand)
    }

    @Test("Several instances share a directory and its limit")
    func shared() async throws {
        // No time passes, so that no wait for the directory's lock ends.
        let clock = RelativeClock(ManualClock())
        let storages = (0..<4).map { _ in
            DiskCacheStorage(path: directory.url.path, byteLimit: 20_000, synchronizesWrites: false, clock: clock)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, storage) in storages.enumerated() {
                group.addTask {
                    for number in 0..<25 {
                        try await storage.set(thousand, for: key(place * 100 + number))
                        #expect(try directory.byteCount() <= 20_000)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await storages[0].set(thousand, for: key(1))
        #expect(try await storages[1].entry(for: key(1)) == thousand)
        try await storages[2].remove(group: "g")
        #expect(try await storages[3].byteCount == 0)
    }

    @Test("What dead writers left half-written is cleared away and never read")
    func leftovers() async throws {
        try await storage().set(thousand, for: key(1))
        try Data(repeating: 1, count: 4000).write(to: directory.url.appending(path: "writing"))
        let next = storage()
        let known = try await next.byteCount
        #expect(try directory.byteCount() == known)
        #expect(try directory.names() == [key(1).fileName, "lock"].sorted())
    }

    @Test("A directory that is removed meanwhile is made again")
    func removedDirectory() async throws {
        let storage = storage()
        try await storage.set(thousand, for: key(1))
        try FileManager.default.removeItem(at: directory.url)
        #expect(try await storage.entry(for: key(1)) == nil)
        try await storage.set(thousand, for: key(2))
        #expect(try await storage.entry(for: key(2)) == thousand)
        let known = try await storage.byteCount
        #expect(try directory.byteCount() == known)
    }

    @Test("Only their owner may read files and directory")
    func permissions() async throws {
        try await storage().set(thousand, for: key(1))
        for path in [directory.url.path, directory.url.appending(path: key(1).fileName).path] {
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect((permissions ?? 0o777) & 0o077 == 0)
        }
    }

    @Test("A lock that another holds is waited for, not for ever, and no longer than the caller wants")
    func locked() async throws {
        let clock = ManualClock()
        let storage = DiskCacheStorage(
            path: directory.url.path, byteLimit: 1_000_000, synchronizesWrites: false, clock: RelativeClock(clock))
        try await storage.set(thousand, for: key(1))
        let held = try #require(try SafeDirectory.make(directory.url.path).lock(DiskCacheWriter.lockName))
        async let failure = #expect(throws: FileFailure.self) { try await storage.remove(key(1)) }
        try await clock.waitForSleepers(1)
        // Reading needs no lock.
        #expect(try await storage.entry(for: key(1)) == thousand)
        clock.advance(by: .seconds(2))
        #expect(await failure?.reason == .locked)
        let cancelled = Task { try await storage.remove(key(1)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        held.unlock()
        try await storage.remove(key(1))
        #expect(try await storage.entry(for: key(1)) == nil)
    }

    @Test("A directory that others can write to is refused, and named")
    func unsafeDirectory() async throws {
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory.url.path)
        for use in [
            { try await $0.set(thousand, for: key(1)) }, { _ = try await $0.entry(for: key(1)) },
            { _ = try await $0.byteCount },
        ] as [(DiskCacheStorage) async throws -> Void] {
            await #expect { try await use(storage()) } throws: { "\($0)".contains("'\(directory.url.path)'") }
        }
        #expect(try directory.names() == [])
    }

    @Test("Links in the place of files change nothing elsewhere, and are replaced by entries")
    func links() async throws {
        let victim = TemporaryDirectory()
        try FileManager.default.createDirectory(at: victim.url, withIntermediateDirectories: false)
        let precious = victim.url.appending(path: "precious")
        try Data("export PATH".utf8).write(to: precious)
        func link(_ name: String) throws {
            try FileManager.default.createSymbolicLink(
                at: directory.url.appending(path: name), withDestinationURL: precious)
        }
        _ = try SafeDirectory.make(directory.url.path)
        try link("writing")
        try link(key(1).fileName)
        await #expect { try await storage().entry(for: key(1)) } throws: { "\($0)".contains("is a link") }
        try await storage().set(thousand, for: key(1))
        #expect(try await storage().entry(for: key(1)) == thousand)
        try FileManager.default.removeItem(at: directory.url.appending(path: DiskCacheWriter.lockName))
        try link(DiskCacheWriter.lockName)
        await #expect { try await storage().set(thousand, for: key(1)) } throws: { "\($0)".contains("is a link") }
        #expect(try Data(contentsOf: precious) == Data("export PATH".utf8))
    }

    @Test("A FIFO or a giant in the place of an entry fails a read at once, and is replaced by a write")
    func irregularEntries() async throws {
        let storage = storage()
        try await storage.set(thousand, for: key(1))
        let path = directory.url.appending(path: key(1).fileName).path
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        await #expect { try await storage.entry(for: key(1)) } throws: { "\($0)".contains("'\(path)'") }
        try await storage.set(thousand, for: key(1))
        #expect(try await storage.entry(for: key(1)) == thousand)
        #expect(truncate(path, 1 << 40) == 0)
        await #expect { try await storage.entry(for: key(1)) } throws: { "\($0)".contains("'\(path)'") }
        try await storage.set(thousand, for: key(1))
        #expect(try await storage.entry(for: key(1)) == thousand)
    }

    @Test(
        "What belongs to another user is neither read nor written to, and is named",
        .enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func owners() async throws {
        let storage = storage()
        try await storage.set(thousand, for: key(1))
        let entry = directory.url.appending(path: key(1).fileName).path
        #expect(chown(entry, 12345, 12345) == 0)
        await #expect { try await storage.entry(for: key(1)) } throws: {
            "\($0)".contains("'\(entry)'") && "\($0)".contains("12345")
        }
        try await storage.set(thousand, for: key(1))
        #expect(try await storage.entry(for: key(1)) == thousand)

        let lock = directory.url.appending(path: DiskCacheWriter.lockName).path
        #expect(chown(lock, 12345, 12345) == 0)
        await #expect { try await storage.set(thousand, for: key(2)) } throws: { "\($0)".contains("'\(lock)'") }
        #expect(chown(lock, 0, 0) == 0)

        #expect(chown(directory.url.path, 12345, 12345) == 0)
        for use in [
            { try await $0.set(thousand, for: key(2)) }, { _ = try await $0.entry(for: key(1)) },
            { _ = try await $0.byteCount },
        ] as [(DiskCacheStorage) async throws -> Void] {
            await #expect { try await use(storage) } throws: { "\($0)".contains("'\(directory.url.path)'") }
        }
        #expect(try directory.names() == [key(1).fileName, DiskCacheWriter.lockName].sorted())
    }
}
