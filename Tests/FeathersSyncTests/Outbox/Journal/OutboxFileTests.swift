import FeathersCore
import FeathersSupport
import FeathersSync
import FeathersTesting
import Foundation
import Testing

@Suite("The files of an outbox", .timeLimit(.minutes(10)))
struct OutboxFileTests {
    @Test("One outbox at a time uses a file; the others are told which")
    func locked() async throws {
        let folder = try OutboxFolder()
        let outbox = try await Outbox(file: folder.file)
        await #expect { try await Outbox(file: folder.file) } throws: { error in
            "\(error)".contains("'\(folder.file.path)'") && "\(error)".contains("another outbox uses it")
        }
        await outbox.close()
        let next = try await Outbox(file: folder.file)
        await next.close()
    }

    @Test("Only their owner may read them, and the folder where it had to be made")
    func modes() async throws {
        let folder = try OutboxFolder()
        let file = folder.url.appending(path: "deep/writes.outbox")
        let app = FeathersApp()
        try app.use(outbox: try await Outbox(file: file))
        try await app.service("messages").outbox.create(["text": "Hi"])
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try mode(file) == 0o600)
        #expect(try mode(file.deletingLastPathComponent()) == 0o700)
        for name in ["writes.outbox-wal", "writes.outbox-shm", "writes.outbox.lock"] {
            #expect(try mode(folder.url.appending(path: "deep/\(name)")) == 0o600)
        }
    }

    @Test("What is closed takes no more writes")
    func closed() async throws {
        let folder = try OutboxFolder()
        let outbox = try await Outbox(file: folder.file)
        let app = FeathersApp()
        try app.use(outbox: outbox)
        await outbox.close()
        await #expect { try await app.service("messages").outbox.create([:]) } throws: { "\($0)".contains("is closed") }
        #expect(outbox.state.entries.isEmpty)
    }

    @Test("A folder that can not be made, and a file that is none, are named")
    func unusable() async throws {
        let folder = try OutboxFolder()
        let blocked = folder.url.appending(path: "file/writes.outbox")
        try Data("something else".utf8).write(to: folder.url.appending(path: "file"))
        for url in ["https://example.com/writes.outbox", "file:///tmp/"].compactMap(URL.init(string:)) {
            await #expect { try await Outbox(file: url) } throws: { "\($0)".contains("needs the URL of a file") }
        }
        await #expect { try await Outbox(file: blocked) } throws: { "\($0)".contains(blocked.path) }
        await #expect { try await Outbox(file: folder.url.appending(path: "file")) } throws: {
            "\($0)".contains("it is not an outbox file")
        }
    }

    @Test(
        "A folder others can write to, a link in the file's place and a second name of the file are refused and named"
    )
    func unsafe() async throws {
        let folder = try OutboxFolder()
        func refusal() async -> String {
            do {
                let outbox = try await Outbox(file: folder.file)
                await outbox.close()
                return ""
            } catch {
                return "\(error)"
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
        #expect(await refusal().contains("its mode 777"))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
        #expect(await refusal() == "")
        let other = folder.url.appending(path: "other")
        try FileManager.default.linkItem(at: folder.file, to: other)
        #expect(await refusal().contains("second name"))
        try FileManager.default.removeItem(at: folder.file)
        try FileManager.default.createSymbolicLink(at: folder.file, withDestinationURL: other)
        #expect(await refusal().contains("'\(folder.file.path)' is a link"))
    }

    @Test("A second path to a file in use is refused, and the first goes on")
    func secondPath() async throws {
        let (folder, other) = (try OutboxFolder(), try OutboxFolder())
        let outbox = try await Outbox(file: folder.file)
        let app = FeathersApp()
        try app.use(outbox: outbox)
        try await app.service("messages").outbox.create(["n": 1])
        try FileManager.default.linkItem(at: folder.file, to: other.file)
        await #expect { try await Outbox(file: other.file) } throws: { "\($0)".contains("second name") }
        try await app.service("messages").outbox.create(["n": 2])
        #expect(outbox.state.entries.count == 2)
        await outbox.close()
    }

    @Test(
        "A FIFO in the place of a file is refused at once, and named",
        arguments: ["writes.outbox", "writes.outbox-wal", "writes.outbox.lock"])
    func fifo(name: String) async throws {
        let folder = try OutboxFolder()
        let path = folder.url.appending(path: name).path
        #expect(mkfifo(path, 0o600) == 0)
        await #expect { try await Outbox(file: folder.file) } throws: {
            "\($0)".contains("'\(path)' cannot be used: it is not a regular file")
        }
    }

    @Test("Without SQLite, an outbox says what is missing and makes no database; other calls go on")
    func withoutLibrary() async throws {
        let folder = try OutboxFolder()
        await SQLiteLibrary.$name.withValue("libsqlite3-hidden.so.0") {
            await #expect { try await Outbox(file: folder.file) } throws: {
                let text = "\($0)"
                return ["'\(folder.file.path)'", "'libsqlite3-hidden.so.0'", "package libsqlite3-0"]
                    .allSatisfy(text.contains) && ($0 as? FeathersError)?.execution == .neverSent
            }
            await #expect(throws: FeathersError.self) {
                try await FeathersApp().use(localStore: .directory(folder.url))
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file.path))
        try await Outbox(file: folder.file).close()
    }

    @Test("A giant in the place of the file is refused before it is read, and named")
    func giant() async throws {
        let folder = try OutboxFolder()
        try Data().write(to: folder.file)
        #expect(truncate(folder.file.path, 1 << 40) == 0)
        await #expect { try await Outbox(file: folder.file) } throws: {
            "\($0)".contains("'\(folder.file.path)' cannot be used: it is not an outbox file")
        }
    }

    @Test(
        "What belongs to another user is refused, and named",
        .enabled(if: geteuid() == 0, "only the superuser can give files away"),
        arguments: ["", "writes.outbox", "writes.outbox.lock"])
    func owners(name: String) async throws {
        let folder = try OutboxFolder()
        try await Outbox(file: folder.file).close()
        let path = name.isEmpty ? folder.url.path : folder.url.appending(path: name).path
        #expect(chown(path, 12345, 12345) == 0)
        await #expect { try await Outbox(file: folder.file) } throws: {
            "\($0)".contains("'\(path)' cannot be used: it belongs to another user")
        }
    }
}
