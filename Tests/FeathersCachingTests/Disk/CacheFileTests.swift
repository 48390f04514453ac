import FeathersCore
import Foundation
import Testing

@testable import FeathersCaching

@Suite("Cache files", .timeLimit(.minutes(10)))
struct CacheFileTests {
    private static let key = CacheKey(text: #"["get",1]"#, group: "messages")
    private static let entry = CacheEntry(
        value: ["text": "Hi"], expiration: Date(timeIntervalSinceReferenceDate: 1), entityTag: "x")

    @Test("Any changed byte, bit by bit, and any missing or added one makes the file nothing")
    func corrupted() throws {
        let bytes = try CacheFile.bytes(of: Self.entry, for: Self.key)
        #expect(CacheFile.content(of: bytes, for: Self.key) == .entry(Self.entry))
        for offset in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[offset] ^= 1 << bit
                #expect(CacheFile.content(of: changed, for: Self.key) == .corrupted, "byte \(offset), bit \(bit)")
            }
            #expect(
                CacheFile.content(of: Array(bytes[..<offset]), for: Self.key) == .corrupted, "the first \(offset) bytes"
            )
        }
        #expect(CacheFile.content(of: bytes + [0], for: Self.key) == .corrupted)
    }

    @Test("Another key's file is no answer, by text and by group, to the last code unit")
    func otherKey() throws {
        let bytes = try CacheFile.bytes(of: Self.entry, for: CacheKey(text: "\u{E9}", group: "g"))
        #expect(CacheFile.content(of: bytes, for: CacheKey(text: "\u{E9}", group: "g")) == .entry(Self.entry))
        #expect(CacheFile.content(of: bytes, for: CacheKey(text: "e\u{301}", group: "g")) == .otherKey)
        #expect(CacheFile.content(of: bytes, for: CacheKey(text: "\u{E9}", group: "h")) == .otherKey)
    }

    @Test("On disk, a changed byte is a miss and the file is gone; another key's file stays")
    func onDisk() async throws {
        let directory = TemporaryDirectory()
        let storage = DiskCacheStorage(directory: directory.url)
        let file = directory.url.appending(path: Self.key.fileName)
        let bytes = try CacheFile.bytes(of: Self.entry, for: Self.key)
        for offset in bytes.indices {
            try await storage.set(Self.entry, for: Self.key)
            var changed = bytes
            changed[offset] ^= 0xFF
            try Data(changed).write(to: file)
            #expect(try await storage.entry(for: Self.key) == nil)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        try Data().write(to: file)
        #expect(try await storage.entry(for: Self.key) == nil)
        try Data(CacheFile.bytes(of: Self.entry, for: CacheKey(text: "collision", group: "messages"))).write(to: file)
        #expect(try await storage.entry(for: Self.key) == nil)
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("A file of the version before is a miss, and is removed")
    func otherVersion() async throws {
        let directory = TemporaryDirectory()
        let storage = DiskCacheStorage(directory: directory.url)
        try await storage.set(Self.entry, for: Self.key)
        let file = directory.url.appending(path: Self.key.fileName)
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<8, with: Data("FCACHE1\n".utf8))
        try bytes.write(to: file)
        #expect(try await storage.entry(for: Self.key) == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("What JSON cannot express is refused rather than changed")
    func notANumber() {
        #expect(throws: (any Error).self) {
            try CacheFile.bytes(of: CacheEntry(value: .number(.infinity)), for: Self.key)
        }
    }
}
