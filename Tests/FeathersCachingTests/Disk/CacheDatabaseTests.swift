import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersCaching

@Suite("The database of a disk cache", .timeLimit(.minutes(10)))
struct CacheDatabaseTests {
    private static let key = CacheKey(text: #"["get",1]"#, group: "messages")
    private static let entry = CacheEntry(
        value: ["text": "Hi"], expiration: Date(timeIntervalSinceReferenceDate: 1), entityTag: "x")

    private let directory = TemporaryDirectory()
    private var file: URL { directory.url.appending(path: CacheDatabase.name) }

    @Test("A key that looks the same is another one, to the last code unit")
    func otherKey() async throws {
        let storage = DiskCacheStorage(directory: directory.url)
        try await storage.set(Self.entry, for: CacheKey(text: "\u{E9}", group: "g"))
        #expect(try await storage.entry(for: CacheKey(text: "\u{E9}", group: "g")) == Self.entry)
        #expect(try await storage.entry(for: CacheKey(text: "e\u{301}", group: "g")) == nil)
        #expect(try await storage.entry(for: CacheKey(text: "\u{E9}", group: "h")) == nil)
    }

    @Test("A damaged database, any other file and another version are a miss, and are replaced")
    func damaged() async throws {
        for round in 0..<4 {
            var storage: DiskCacheStorage? = DiskCacheStorage(directory: directory.url)
            for number in 0..<50 {
                try await storage?.set(Self.entry, for: CacheKey(text: "\(number)", group: "g"))
            }
            storage = nil
            let directory = try SafeDirectory.make(directory.url.path)
            let database = try Database.open(CacheDatabase.name, in: directory, CacheDatabase.schema)
            switch round {
            case 0: try database.execute("PRAGMA user_version = 2")
            case 1: try database.execute("UPDATE entries SET value = '{'")
            default: break
            }
            database.close()
            if round == 2 { try Data("something else".utf8).write(to: file) }
            if round == 3 {
                var bytes = try Data(contentsOf: file)
                for index in 4096..<bytes.count { bytes[index] = 0xFF }
                try bytes.write(to: file)
            }
            let later = DiskCacheStorage(directory: self.directory.url)
            #expect(try await later.entry(for: CacheKey(text: "1", group: "g")) == nil, "round \(round)")
            try await later.set(Self.entry, for: Self.key)
            #expect(try await later.entry(for: Self.key) == Self.entry, "round \(round)")
            #expect(try await later.entry(for: CacheKey(text: "1", group: "g")) == nil, "round \(round)")
        }
    }

    @Test("The database of another program is refused, named, and left as it is")
    func foreign() async throws {
        let schema = DatabaseSchema(application: 1, version: 1, statements: ["CREATE TABLE a (b)"])
        try Database.open(CacheDatabase.name, in: SafeDirectory.make(directory.url.path), schema).close()
        let bytes = try Data(contentsOf: file)
        let storage = DiskCacheStorage(directory: directory.url)
        await #expect { try await storage.set(Self.entry, for: Self.key) } throws: {
            "\($0)".contains("'\(file.path)'")
        }
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test("Without SQLite, the cache says what is missing")
    func withoutLibrary() async throws {
        let storage = DiskCacheStorage(directory: directory.url)
        await SQLiteLibrary.$name.withValue("libsqlite3-hidden.so.0") {
            await #expect { try await storage.set(Self.entry, for: Self.key) } throws: {
                "\($0)".contains("'libsqlite3-hidden.so.0' could not be loaded")
            }
        }
        try await storage.set(Self.entry, for: Self.key)
        #expect(try await storage.entry(for: Self.key) == Self.entry)
    }

    @Test("A cell that someone has changed is a miss or its entry, and the cache goes on")
    func changedCells() async throws {
        let values = [
            "-1", "0", "9223372036854775807", "-9223372036854775808", "1099511627777", "1.5", "9e999", "'x'", "''",
            "CAST(x'ff' AS TEXT)", "'\(String(repeating: "[", count: 100_000))'",
            "'\(String(repeating: "[", count: 1000))\(String(repeating: "]", count: 1000))'",
        ]
        for column in ["size", "used", "expiry", "grp", "key", "tag", "value"] {
            for value in values {
                let directory = TemporaryDirectory()
                let folder = try SafeDirectory.make(directory.url.path)
                let first = DiskCacheStorage(directory: directory.url, byteLimit: 3000)
                for number in 0..<5 {
                    try await first.set(Self.entry, for: CacheKey(text: "\(number)", group: "g"))
                }
                let database = try Database.open(CacheDatabase.name, in: folder, CacheDatabase.schema)
                try database.execute("UPDATE OR IGNORE entries SET \(column) = \(value) WHERE key = '1'")
                database.close()
                let later = DiskCacheStorage(directory: directory.url, byteLimit: 3000)
                let name = Comment(rawValue: "\(column) = \(value.prefix(30))")
                if let read = try await later.entry(for: CacheKey(text: "1", group: "g")), column != "value" {
                    #expect(read.value == Self.entry.value, name)
                }
                for number in 0..<100 {
                    try await later.set(Self.entry, for: CacheKey(text: "later \(number)", group: "g"))
                }
                #expect(try await later.entry(for: CacheKey(text: "later 99", group: "g")) == Self.entry, name)
                #expect(try await later.byteCount <= 3000, name)
            }
        }
    }

    @Test("A database with a trigger is replaced")
    func trigger() async throws {
        let database = try Database.open(
            CacheDatabase.name, in: SafeDirectory.make(directory.url.path), CacheDatabase.schema)
        try database.execute("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END")
        database.close()
        let storage = DiskCacheStorage(directory: directory.url)
        try await storage.set(Self.entry, for: Self.key)
        #expect(try await storage.entry(for: Self.key) == Self.entry)
    }

    /// The files of the folder that contain a text.
    private func traces(of text: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted().filter {
            try Data(contentsOf: directory.url.appending(path: $0)).range(of: Data(text.utf8)) != nil
        }
    }

    @Test(
        "What is removed is in no file: all entries at once, others soon, or once the next process opens it"
    )
    func removed() async throws {
        let clock = ManualClock()
        let cache = CacheDatabase(
            path: directory.url.path, byteLimit: 100_000, synchronizesWrites: false, clock: RelativeClock(clock))
        let secret = CacheEntry(value: ["text": "secret-7f3a"])
        try await cache.set(secret, for: Self.key)
        #expect(try traces(of: "secret-7f3a") == ["cache.sqlite-wal"])
        try await cache.removeAll()
        #expect(try traces(of: "secret-7f3a") == [])

        try await cache.set(secret, for: Self.key)
        try await cache.remove("grp = ?", .text(Self.key.group))
        #expect(try traces(of: "secret-7f3a") == ["cache.sqlite-wal"])
        let emptying = await cache.emptying
        try await clock.waitForSleepers(1)
        clock.advance(by: Database.checkpointDelay)
        await emptying?.value
        #expect(try traces(of: "secret-7f3a") == [])

        var ended: CacheDatabase? = CacheDatabase(
            path: directory.url.path, byteLimit: 100_000, synchronizesWrites: false, clock: RelativeClock(clock))
        try await ended?.set(secret, for: Self.key)
        try await ended?.remove("grp = ?", .text(Self.key.group))
        ended = nil
        #expect(try traces(of: "secret-7f3a") == ["cache.sqlite-wal"])
        let next = DiskCacheStorage(directory: directory.url)
        #expect(try await next.entry(for: Self.key) == nil)
        #expect(try traces(of: "secret-7f3a") == [])
    }

    @Test("While another process reads, all entries are removed, and are in no file some seconds after it has ended")
    func removedWhileRead() async throws {
        let clock = ManualClock()
        let cache = CacheDatabase(
            path: directory.url.path, byteLimit: 100_000, synchronizesWrites: false, clock: RelativeClock(clock))
        try await cache.set(CacheEntry(value: ["text": "secret-7f3a"]), for: Self.key)
        let reader = try #require(
            try Database.openForReading(
                CacheDatabase.name, in: SafeDirectory.make(directory.url.path), CacheDatabase.schema))
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM entries") == 1)
        try await cache.removeAll()
        #expect(try traces(of: "secret-7f3a") != [])
        try reader.execute("COMMIT")
        let emptying = await cache.emptying
        try await clock.waitForSleepers(1)
        clock.advance(by: Database.checkpointDelay)
        await emptying?.value
        #expect(try traces(of: "secret-7f3a") == [])
        #expect(try reader.integer("SELECT count(*) FROM entries") == 0)
    }

    @Test("What JSON cannot express is refused rather than changed")
    func notANumber() async {
        let storage = DiskCacheStorage(directory: directory.url)
        await #expect(throws: (any Error).self) {
            try await storage.set(CacheEntry(value: .number(.infinity)), for: Self.key)
        }
    }
}
