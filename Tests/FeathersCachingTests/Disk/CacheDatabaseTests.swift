import FeathersCore
import FeathersSupport
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

    @Test("What JSON cannot express is refused rather than changed")
    func notANumber() async {
        let storage = DiskCacheStorage(directory: directory.url)
        await #expect(throws: (any Error).self) {
            try await storage.set(CacheEntry(value: .number(.infinity)), for: Self.key)
        }
    }
}
