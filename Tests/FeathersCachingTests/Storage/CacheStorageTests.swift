import FeathersCore
import Foundation
import Testing

@testable import FeathersCaching

/// What every storage does.
@Suite("Cache storages", .timeLimit(.minutes(10)))
struct CacheStorageTests {
    private let directory = TemporaryDirectory()

    private func key(_ text: String, _ group: String = "messages") -> CacheKey { CacheKey(text: text, group: group) }

    private static let entry = CacheEntry(
        value: ["id": 9_007_199_254_740_993, "text": "ä \u{1F426}", "list": [1, 2.5, .null, true]],
        expiration: Date(timeIntervalSinceReferenceDate: 123.456), entityTag: "W/\"a\"")

    @Test("An answer comes back as it was kept, until it is replaced or removed", arguments: TestedStorage.allCases)
    func keeps(_ tested: TestedStorage) async throws {
        let storage = tested.make(in: directory)
        #expect(try await storage.entry(for: key("a")) == nil)
        try await storage.set(Self.entry, for: key("a"))
        try await storage.set(CacheEntry(value: .null), for: key("b"))
        #expect(try await storage.entry(for: key("a")) == Self.entry)
        #expect(try await storage.entry(for: key("b")) == CacheEntry(value: .null))
        #expect(try await storage.entry(for: key("a", "other")) == nil)
        try await storage.set(CacheEntry(value: 2), for: key("a"))
        #expect(try await storage.entry(for: key("a")) == CacheEntry(value: 2))
        try await storage.remove(key("a"))
        try await storage.remove(key("never there"))
        #expect(try await storage.entry(for: key("a")) == nil)
        #expect(try await storage.entry(for: key("b")) != nil)
    }

    @Test("A group goes as a whole and alone; everything goes with everything", arguments: TestedStorage.allCases)
    func groups(_ tested: TestedStorage) async throws {
        let storage = tested.make(in: directory)
        for group in ["messages", "users"] {
            for text in ["a", "b"] { try await storage.set(Self.entry, for: key(text, group)) }
        }
        try await storage.remove(group: "messages")
        #expect(try await storage.entry(for: key("a", "messages")) == nil)
        #expect(try await storage.entry(for: key("b", "messages")) == nil)
        #expect(try await storage.entry(for: key("a", "users")) != nil)
        try await storage.removeAll()
        #expect(try await storage.entry(for: key("a", "users")) == nil)
    }

    @Test("What expired before a date goes, what is fresh or never expires stays", arguments: TestedStorage.allCases)
    func expired(_ tested: TestedStorage) async throws {
        let storage = tested.make(in: directory)
        let dates = [10.0, 20, 30].map { Date(timeIntervalSinceReferenceDate: $0) }
        for (number, date) in dates.enumerated() {
            try await storage.set(CacheEntry(value: 1, expiration: date), for: key("\(number)"))
        }
        try await storage.set(CacheEntry(value: 1), for: key("never"))
        try await storage.removeExpired(olderThan: dates[1])
        var kept: [String] = []
        for text in ["0", "1", "2", "never"] where try await storage.entry(for: key(text)) != nil { kept.append(text) }
        #expect(kept == ["1", "2", "never"])
    }

    @Test("Memory forgets what was not used for longest, by count and by bytes")
    func limits() async throws {
        let counted = MemoryCacheStorage(countLimit: 2)
        for text in ["a", "b"] { try await counted.set(CacheEntry(value: 1), for: key(text)) }
        _ = try await counted.entry(for: key("a"))
        try await counted.set(CacheEntry(value: 1), for: key("c"))
        #expect(try await counted.entry(for: key("b")) == nil)
        #expect(try await counted.entry(for: key("a")) != nil)
        #expect(counted.count == 2)

        let text = JSONValue.string(String(repeating: "x", count: 1000))
        let measured = MemoryCacheStorage(byteLimit: 3500)
        for name in ["a", "b", "c", "d"] { try await measured.set(CacheEntry(value: text), for: key(name)) }
        #expect(measured.count == 3)
        #expect((3000...3500).contains(measured.byteCount))
        // One that is too large is not kept, and neither is what it would have replaced.
        try await measured.set(CacheEntry(value: .array([text, text, text, text])), for: key("d"))
        #expect(try await measured.entry(for: key("d")) == nil)
        #expect(measured.count == 2)
        try await measured.remove(group: "messages")
        #expect((measured.count, measured.byteCount) == (0, 0))
        try await MemoryCacheStorage(countLimit: 0).set(Self.entry, for: key("a"))
    }

    @Test("Layers promote with the same expiry, write to both and read on where the first one fails")
    func layers() async throws {
        let (first, second) = (MemoryCacheStorage(), MemoryCacheStorage())
        let storage = LayeredCacheStorage(first, second)
        try await second.set(Self.entry, for: key("a"))
        #expect(try await storage.entry(for: key("a")) == Self.entry)
        #expect(try await first.entry(for: key("a")) == Self.entry)
        try await storage.set(CacheEntry(value: 1), for: key("b"))
        #expect(first.count == 2 && second.count == 2)
        try await storage.remove(key("b"))
        #expect(first.count == 1 && second.count == 1)

        let broken = LayeredCacheStorage(BrokenStorage(), second)
        #expect(try await broken.entry(for: key("a")) == Self.entry)
        await #expect(throws: FeathersError.self) { try await broken.removeAll() }
        #expect(second.count == 0)
    }
}

/// A storage whose every operation fails.
struct BrokenStorage: CacheStorage {
    private var failure: FeathersError { FeathersError(.generalError, "broken") }

    func entry(for key: CacheKey) async throws -> CacheEntry? { throw failure }
    func set(_ entry: CacheEntry, for key: CacheKey) async throws { throw failure }
    func remove(_ key: CacheKey) async throws { throw failure }
    func remove(group: String) async throws { throw failure }
    func removeExpired(olderThan date: Date) async throws { throw failure }
    func removeAll() async throws { throw failure }
}
