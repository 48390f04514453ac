import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("The file storage", .timeLimit(.minutes(10)))
struct FileTokenStorageTests {
    private let executor = SettlingExecutor()

    /// Runs the body with a folder of its own that is not there yet.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let parent = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: parent) }
        try await body(parent.appending(path: "tokens"))
    }

    private func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("Tokens are kept, replaced and removed, each key by itself")
    func life() async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            #expect(try await storage.token(for: "a") == nil)
            try await storage.remove(for: "a")
            try await storage.store("first", for: "a")
            try await storage.store("other", for: "../a/ü")
            try await storage.store("second", for: "a")
            #expect(try await FileTokenStorage(directory: folder).token(for: "a") == "second")
            #expect(try await storage.token(for: "../a/ü") == "other")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                    "%2E%2E%2Fa%2F%C3%BC.token", ".lock", "a.token",
                ])
            try await storage.remove(for: "a")
            #expect(try await storage.token(for: "a") == nil)
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "a.token").path))
        }
    }

    @Test("Nobody else can read folder or file, whatever the umask and whatever was there before")
    func modes() async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("secret", for: "a")
            let path = folder.appending(path: "a.token").path
            #expect(try mode(of: folder.path) == 0o700 && mode(of: path) == 0o600)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try await storage.store("secret2", for: "a")
            #expect(try mode(of: path) == 0o600)
        }
    }

    @Test(
        "A file that others can read is refused, by its path and without its content",
        arguments: [0o644, 0o640, 0o604, 0o620])
    func open(mode: Int) async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("secret", for: "a")
            let path = folder.appending(path: "a.token").path
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let error = await failure { try await storage.token(for: "a") }
            #expect(error?.message.contains(path) == true && error?.message.contains(String(mode, radix: 8)) == true)
            #expect(error?.message.contains("secret") == false)
        }
    }

    @Test(
        "What is no token is an error that names the file",
        arguments: [[], [0xFF, 0xFE], Array(repeating: 0x61, count: 2 << 20)] as [[UInt8]])
    func garbage(bytes: [UInt8]) async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("x", for: "a")
            let file = folder.appending(path: "a.token")
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
            #expect(await failure { try await storage.token(for: "a") }?.message.contains(file.path) == true)
        }
    }

    @Test("A link, a folder, or a folder that can not be made are errors that name the path")
    func obstacles() async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("secret", for: "a")
            let link = folder.appending(path: "b.token")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appending(path: "a.token"))
            #expect(await failure { try await storage.token(for: "b") }?.message.contains(link.path) == true)
            let directory = folder.appending(path: "c.token")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
            #expect(await failure { try await storage.token(for: "c") }?.message.contains(directory.path) == true)
            #expect(await failure { try await storage.store("x", for: "c") }?.message.contains(directory.path) == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 4)
            let impossible = folder.appending(path: "a.token/inside")
            #expect(
                await failure { try await FileTokenStorage(directory: impossible).store("x", for: "a") }?.message
                    .contains(impossible.path)
                    == true)
        }
    }

    @Test("A folder that others can write to is refused, and named")
    func unsafeFolder() async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("secret", for: "a")
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
            for use in [
                { _ = try await storage.token(for: "a") }, { try await storage.store("x", for: "a") },
                { try await storage.remove(for: "a") },
            ] as [@Sendable () async throws -> Void] {
                let error = await failure(use)
                #expect(error?.message.contains("'\(folder.path)'") == true && error?.message.contains("777") == true)
            }
        }
    }

    @Test("Many writers and readers at once: every read is a whole token, and nothing is left behind")
    func concurrency() async throws {
        try await withFolder { folder in
            let tokens = (0..<8).map { String(repeating: "\($0)", count: 20_000) }
            try await FileTokenStorage(directory: folder).store(tokens[0], for: "a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for token in tokens {
                    group.addTask {
                        for _ in 0..<10 { try await FileTokenStorage(directory: folder).store(token, for: "a") }
                    }
                    group.addTask {
                        for _ in 0..<50 {
                            let read = try await FileTokenStorage(directory: folder).token(for: "a") ?? ""
                            #expect(tokens.contains(read))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [".lock", "a.token"])
        }
    }

    @Test("An app whose token file can not be used says so, and keeps the file")
    func unreadable() async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("secret", for: "feathers-jwt")
            let path = folder.appending(path: "feathers-jwt.token").path
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let server = SampleServer()
            let app = try FeathersApp.sample(server, storage: storage)
            #expect(await failure { try await app.service("messages").rawFind() }?.message.contains(path) == true)
            #expect(server.transport.requests.isEmpty)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            #expect(try await app.service("messages").rawFind()["authorization"] == "Bearer secret")
        }
    }

    @Test("A FIFO or a giant in the place of a token is refused at once and named, and is replaced by the next token")
    func irregular() async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("first", for: "a")
            let path = folder.appending(path: "a.token").path
            #expect(truncate(path, 1 << 40) == 0)
            let giant = await failure { try await storage.token(for: "a") }
            #expect(giant?.message.contains("'\(path)' cannot be used: it is larger than") == true)
            try FileManager.default.removeItem(atPath: path)
            #expect(mkfifo(path, 0o600) == 0)
            let fifo = await failure { try await storage.token(for: "a") }
            #expect(fifo?.message.contains("'\(path)' cannot be used: it is not a regular file") == true)
            try await storage.store("second", for: "a")
            #expect(try await storage.token(for: "a") == "second")
        }
    }

    @Test(
        "What belongs to another user is refused, and named",
        .enabled(if: geteuid() == 0, "only the superuser can give files away"))
    func owners() async throws {
        try await withFolder { folder in
            let storage = FileTokenStorage(directory: folder)
            try await storage.store("secret", for: "a")
            let path = folder.appending(path: "a.token").path
            #expect(chown(path, 12345, 12345) == 0)
            #expect(
                await failure { try await storage.token(for: "a") }?.message.contains("'\(path)' cannot be used")
                    == true)
            #expect(chown(folder.path, 12345, 12345) == 0)
            for use in [
                { _ = try await storage.token(for: "a") }, { try await storage.store("x", for: "a") },
                { try await storage.remove(for: "a") },
            ] as [@Sendable () async throws -> Void] {
                #expect(await failure(use)?.message.contains("'\(folder.path)' cannot be used") == true)
            }
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `A lock is passed on when it is released, and a task that waits for it can be cancelled`() async throws {
        try await withFolder { folder in
            let (entered, gate) = (Promise<Void>(), Promise<Void>())
            let holder = Task {
                try await FileTokenStorage(directory: folder).exclusively(for: "a") {
                    entered.resolve(())
                    try? await gate.value()
                }
            }
            try await entered.value()
            let order = Locked<[String]>([])
            let waiting = FileTokenStorage(directory: folder)
            let cancelled = await executor.start {
                try await waiting.exclusively(for: "a") { order.withLock { $0.append("cancelled") } }
            }
            let next = await executor.start {
                try await waiting.exclusively(for: "a") { order.withLock { $0.append("next") } }
            }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            gate.resolve(())
            try await holder.value
            try await next.value
            #expect(order.withLock { $0 } == ["next"])
        }
    }
}
