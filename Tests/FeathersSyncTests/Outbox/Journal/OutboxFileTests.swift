import FeathersCore
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
        try app.useOutbox(try await Outbox(file: file))
        try await app.service("messages").outbox.create(["text": "Hi"])
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try mode(file) == 0o600)
        #expect(try mode(file.deletingLastPathComponent()) == 0o700)
        #expect(try mode(folder.url.appending(path: "deep/writes.outbox.lock")) == 0o600)
    }

    @Test("What is closed takes no more writes")
    func closed() async throws {
        let folder = try OutboxFolder()
        let outbox = try await Outbox(file: folder.file)
        let app = FeathersApp()
        try app.useOutbox(outbox)
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
            await #expect { try await Outbox(file: url) } throws: { "\($0)".contains("names no file") }
        }
        await #expect { try await Outbox(file: blocked) } throws: { "\($0)".contains(blocked.path) }
        await #expect { try await Outbox(file: folder.url.appending(path: "file")) } throws: { "\($0)".contains("it is no outbox") }
    }

    @Test("A folder that others can write to, a link in the file's place and a second name of the file are refused, and named")
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
}
