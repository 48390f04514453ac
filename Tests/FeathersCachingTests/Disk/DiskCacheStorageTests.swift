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

    @Test("Answers outlive the instance, and the order of their use does, up to the last write")
    func outlives() async throws {
        let first = storage(3500)
        for number in 1...3 { try await first.set(thousand, for: key(number)) }
        #expect(try await first.entry(for: key(1)) == thousand)
        try await first.remove(key(9))
        try await first.set(CacheEntry(value: 1), for: key(4))
        let second = storage(3500)
        try await second.set(thousand, for: key(5))
        #expect(try await second.entry(for: key(2)) == nil)
        for number in [1, 3, 5] { #expect(try await second.entry(for: key(number)) == thousand) }
    }

    @Test("The limit holds after every write, and what was not used for longest goes first")
    func limit() async throws {
        let storage = storage(5000)
        for number in 0..<50 {
            try await storage.set(thousand, for: key(number))
            #expect(try await storage.byteCount <= 5000)
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
                        #expect(try await storage.byteCount <= 20_000)
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

    @Test("A directory that is removed meanwhile is made again")
    func removedDirectory() async throws {
        let storage = storage()
        try await storage.set(thousand, for: key(1))
        try FileManager.default.removeItem(at: directory.url)
        #expect(try await storage.entry(for: key(1)) == nil)
        try await storage.set(thousand, for: key(2))
        #expect(try await storage.entry(for: key(2)) == thousand)
    }

    @Test("Only their owner may read files and directory")
    func permissions() async throws {
        try await storage().set(thousand, for: key(1))
        for path in try [directory.url.path] + directory.names().map({ directory.url.appending(path: $0).path }) {
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect((permissions ?? 0o777) & 0o077 == 0)
        }
    }

    @Test("A lock that another holds while it opens is waited for, not forever")
    func locked() async throws {
        let clock = ManualClock()
        let storage = DiskCacheStorage(
            path: directory.url.path, byteLimit: 1_000_000, synchronizesWrites: false, clock: RelativeClock(clock))
        let held = try #require(try SafeDirectory.make(directory.url.path).lock(CacheDatabase.lockName))
        async let failure = #expect(throws: FileFailure.self) { try await storage.set(thousand, for: key(1)) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await failure?.reason == .locked)
        held.unlock()
        try await storage.set(thousand, for: key(1))
        #expect(try await storage.entry(for: key(1)) == thousand)
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

    @Test(
        "Links and FIFOs in the place of files are refused, and named",
        arguments: [CacheDatabase.name, "\(CacheDatabase.name)-wal", CacheDatabase.lockName])
    func irregular(_ name: String) async throws {
        let victim = TemporaryDirectory()
        try FileManager.default.createDirectory(at: victim.url, withIntermediateDirectories: false)
        let precious = victim.url.appending(path: "precious")
        try Data("export PATH".utf8).write(to: precious)
        _ = try SafeDirectory.make(directory.url.path)
        let file = directory.url.appending(path: name)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: precious)
        await #expect { try await storage().set(thousand, for: key(1)) } throws: { "\($0)".contains("is a link") }
        await #expect { try await storage().entry(for: key(1)) } throws: { "\($0)".contains("is a link") }
        #expect(try Data(contentsOf: precious) == Data("export PATH".utf8))
        try FileManager.default.removeItem(at: file)
        #expect(mkfifo(file.path, 0o600) == 0)
        await #expect { try await storage().set(thousand, for: key(1)) } throws: {
            "\($0)".contains("'\(file.path)' cannot be used: it is not a regular file")
        }
    }

    @Test(
        "What belongs to another user is neither read nor written to, and is named",
        .enabled(if: geteuid() == 0, "only the superuser can give files away"),
        arguments: ["", CacheDatabase.name, CacheDatabase.lockName])
    func owners(_ name: String) async throws {
        try await storage().set(thousand, for: key(1))
        let path = name.isEmpty ? directory.url.path : directory.url.appending(path: name).path
        #expect(chown(path, 12345, 12345) == 0)
        for use in [
            { try await $0.set(thousand, for: key(2)) }, { _ = try await $0.entry(for: key(1)) },
            { _ = try await $0.byteCount },
        ] as [(DiskCacheStorage) async throws -> Void] {
            await #expect { try await use(storage()) } throws: {
                "\($0)".contains("'\(path)'") && "\($0)".contains("12345")
            }
        }
    }
}
