import FeathersCore
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
            let attributes = [FileAttributeKey.modificationDate: Date.now.addingTimeInterval(Double(number) * 100 - 1000)]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: directory.url.appending(path: key(number).fileName).path)
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
        let storages = (0..<4).map { _ in storage(20_000) }
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
        let storage = storage()
        try await storage.set(thousand, for: key(1))
        guard let held = try DirectoryLock.acquire(in: CacheDirectory(path: directory.url.path)) else {
            Issue.record("the lock is not free")
            return
        }
        await #expect(throws: DiskCacheError.self) { try await storage.remove(key(1)) }
        // Reading needs no lock.
        #expect(try await storage.entry(for: key(1)) == thousand)
        let cancelled = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do { try await storage.remove(key(1)) } catch { return error is CancellationError }
                return false
            }
            group.cancelAll()
            return await group.next() ?? false
        }
        #expect(cancelled)
        _ = consume held
        try await storage.remove(key(1))
        #expect(try await storage.entry(for: key(1)) == nil)
    }
}
