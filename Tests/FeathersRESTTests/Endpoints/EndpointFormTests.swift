import FeathersCore
import FeathersREST
import FeathersSupport
import Foundation
import TestBackend
import Testing

@Suite("Forms with files", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct EndpointFormTests {
    /// A part as a parser read it.
    struct Part: Codable, Hashable, Sendable {
        var name: String?
        var filename: String?
        var type: String?
        var sha256: String
        var length: Int
    }

    typealias Parts = [String: [Part]]

    static func app() async throws -> FeathersApp {
        FeathersApp(transport: .rest(try await TestBackend.scriptServer()))
    }

    static func sha256(_ text: String) -> String {
        SHA256.hex(Array(text.utf8))
    }

    @Test(
        "are read by other people's parsers, whatever the names are",
        arguments: [
            ("avatar", "photo.png"), ("naïve ü", "größe 日本 😀.txt"), ("a b", "with space; semi=colon.txt"),
            ("brackets[0][x]", "it's (1).tar.gz"),
            ("plain", "no-extension"), ("slashes", "a/b"),
        ])
    func names(name: String, filename: String) async throws {
        let part = MultipartPart.data(name, Data("content".utf8), filename: filename, contentType: .png)
        let parts = try await Self.app().request(
            Endpoint<Parts>(.post, "__form", body: .multipart([.field(name, "täxt\r\n--x"), part])))
        let expected = [
            Part(name: name, filename: nil, type: nil, sha256: Self.sha256("täxt\r\n--x"), length: 10),
            Part(name: name, filename: filename, type: "image/png", sha256: Self.sha256("content"), length: 7),
        ]
        #expect(parts == ["email": expected, "aiohttp": expected])
    }

    @Test("write quotes and line breaks of names as browsers do")
    func escapes() async throws {
        let part = MultipartPart.data("na\"me", Data(), filename: "a\"b\r\nX-Evil: 1.txt")
        let parts = try await Self.app().request(Endpoint<Parts>(.post, "__form", body: .multipart([part])))
        for read in [parts["email"], parts["aiohttp"]] {
            #expect(read?.map(\.name) == ["na%22me"])
            #expect(read?.map(\.filename) == ["a%22b%0D%0AX-Evil: 1.txt"])
        }
    }

    @Test("carry files under their names and types, empty ones too, and nothing at all where there is nothing")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "feathers-form-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (full, empty) = (folder.appending(path: "ä full.json"), folder.appending(path: "empty"))
        try Data("[1]".utf8).write(to: full)
        try Data().write(to: empty)
        let form = EndpointBody.multipart([
            .file("a", at: full), .file("b", at: empty), .file("c", at: full, filename: "c.png", contentType: .jpeg),
        ])
        let parts = try await Self.app().request(Endpoint<Parts>(.post, "__form", body: form))
        let expected = [
            Part(name: "a", filename: "ä full.json", type: "application/json", sha256: Self.sha256("[1]"), length: 3),
            Part(name: "b", filename: "empty", type: "application/octet-stream", sha256: Self.sha256(""), length: 0),
            Part(name: "c", filename: "c.png", type: "image/jpeg", sha256: Self.sha256("[1]"), length: 3),
        ]
        #expect(parts == ["email": expected, "aiohttp": expected])
    }

    @Test("are refused where a content type could smuggle in a field, and where a file is missing")
    func refused() async throws {
        let app = try await Self.app()
        let evil = MultipartPart.data("a", Data(), contentType: "text/plain\r\nX: y")
        await #expect { try await app.request(Endpoint<Parts>(.post, "__form", body: .multipart([evil]))) } throws: {
            FeathersError.Code.badRequest ~= $0 && "\($0)".contains("the part 'a'")
        }
        let missing = MultipartPart.file("a", at: URL(filePath: "/no/such/thing.png"))
        await #expect { try await app.request(Endpoint<Parts>(.post, "__form", body: .multipart([missing]))) } throws: {
            FeathersError.Code.badRequest ~= $0 && "\($0)".contains("'thing.png' does not exist")
                && ($0 as? FeathersError)?.execution == .neverSent
        }
    }
}
