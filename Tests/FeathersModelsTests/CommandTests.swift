import FeathersJSON
import FeathersNetworking
import Foundation
import TestBackend
import Testing

@testable import feathers_models

@Suite("The command feathers-models")
struct CommandTests {
    /// Answers every request with one text, and refuses those without the token.
    private struct Server: HTTPClient {
        var text: String
        var token: String?

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let isAllowed = token == nil || request.headers["Authorization"] == token.map { "Bearer \($0)" }
            return HTTPResponse(
                status: isAllowed ? 200 : 401, body: isAllowed ? Array(text.utf8) : [], url: request.url)
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID().uuidString)")

    private func file(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    @Test(
        "wrong arguments are refused, and secrets in them never repeated",
        arguments: [
            [], ["--from", "a"], ["--output", "b"], ["--from", "a", "--sample", "http://b", "--output", "c"],
            ["--sample", "http://b", "--output", "c"],
            ["--from", "a", "--output", "b", "service"], ["--sample", "nowhere", "--output", "c", "d"],
            ["--nonsense=secret"],
            ["--header", "secret", "--from", "a", "--output", "b"], ["--from"],
        ])
    func wrong(_ arguments: [String]) {
        let mistake = #expect(throws: Arguments.Mistake.self) { try Arguments.read(arguments) }
        #expect(mistake?.description.contains("secret") == false)
    }

    @Test("arguments may be pairs")
    func pairs() throws {
        let arguments = try Arguments.read(["--from=-", "--output=Models", "--check", "--header=X: y: z"])
        let expected = Arguments(
            source: .standardInput, output: "Models", headers: [.init(name: "X", value: "y: z")], isCheck: true)
        #expect(arguments == expected)
    }

    @Test("a document is read with a token, which no file holds; without it, the command ends with 69")
    func token() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = try String(contentsOf: Corpus.folder.appending(path: "Corpus/chat.json"), encoding: .utf8)
        let server = Server(text: text, token: "s3cret")
        let arguments = ["--from", "https://user:s3cret@example.com/swagger.json?key=s3cret", "--output", folder.path]
        #expect(await FeathersModelsCommand.run(arguments, client: server) == ExitCode.unavailable)
        #expect(await FeathersModelsCommand.run(arguments + ["--token", "s3cret"], client: server) == ExitCode.success)
        #expect(
            try file("Message.swift").hasPrefix(
                "// Written by feathers-models from https://example.com/swagger.json.\n"))
        #expect(try !file("Message.swift").contains("s3cret"))
    }

    @Test(
        "a second run changes nothing, a handwritten file stays, and --check exits with 1 once the document has changed"
    )
    func runs() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let chat = Corpus.folder.appending(path: "Corpus/chat.json").path
        let arguments = ["--from", chat, "--output", folder.path]
        #expect(await FeathersModelsCommand.run(arguments) == ExitCode.success)
        let mine = folder.appending(path: "Message+Mine.swift")
        try Data("extension Message {}".utf8).write(to: mine)
        let date = {
            try FileManager.default.attributesOfItem(atPath: folder.appending(path: "User.swift").path)[
                .modificationDate] as? Date
        }
        let before = try date()
        #expect(await FeathersModelsCommand.run(arguments + ["--check"]) == ExitCode.success)
        #expect(await FeathersModelsCommand.run(arguments) == ExitCode.success)
        #expect(try date() == before)
        let shop = Corpus.folder.appending(path: "Corpus/shop.json").path
        #expect(
            await FeathersModelsCommand.run(["--from", shop, "--output", folder.path, "--check"]) == ExitCode.difference
        )
        #expect(await FeathersModelsCommand.run(["--from", shop, "--output", folder.path]) == ExitCode.success)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "User.swift").path))
        #expect(try String(contentsOf: mine, encoding: .utf8) == "extension Message {}")
        try Data("struct Order {}".utf8).write(to: folder.appending(path: "Order.swift"))
        #expect(await FeathersModelsCommand.run(["--from", shop, "--output", folder.path]) == ExitCode.cannotWrite)
        #expect(try file("Order.swift") == "struct Order {}")
    }

    @Test("a document may begin with a byte order mark, from a server or in a file")
    func byteOrderMark() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let chat = try String(contentsOf: Corpus.folder.appending(path: "Corpus/chat.json"), encoding: .utf8)
        let code = await FeathersModelsCommand.run(
            ["--from", "http://localhost/swagger.json", "--output", folder.path],
            client: Server(text: "\u{FEFF}" + chat))
        #expect(code == ExitCode.success)
        let document = folder.appending(path: "chat.json")
        try Data([0xEF, 0xBB, 0xBF] + Array(chat.utf8)).write(to: document)
        #expect(
            await FeathersModelsCommand.run(["--from", document.path, "--output", folder.path]) == ExitCode.success)
    }

    @Test(
        "a document without services removes nothing",
        arguments: ["{}", "not JSON", "{\"openapi\": \"3.0.0\", \"paths\": {}}"])
    func nothing(_ text: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let chat = Corpus.folder.appending(path: "Corpus/chat.json").path
        #expect(await FeathersModelsCommand.run(["--from", chat, "--output", folder.path]) == ExitCode.success)
        let code = await FeathersModelsCommand.run(
            ["--from", "http://localhost/swagger.json", "--output", folder.path], client: Server(text: text))
        #expect(code == ExitCode.badSource)
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: "Message.swift").path))
    }

    @Test("the test backend is read by its document and by its records", .enabled(if: !TestBackend.isSkipped))
    func backend() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try await TestBackend.url()
        let document = url.appending(path: "swagger.json").absoluteString
        #expect(await FeathersModelsCommand.run(["--from", document, "--output", folder.path]) == ExitCode.success)
        #expect(try file("Message.swift").contains("    var pinned: Presence<Bool> = .absent\n"))
        #expect(
            await FeathersModelsCommand.run(["--sample", url.absoluteString, "--output", folder.path, "users"])
                == ExitCode.success)
        #expect(try file("User.swift").contains("    var email: String\n"))
        #expect(try file("Todo.swift").contains("enum Priority"))
    }

    /// Runs a line of a shell: `$1` is the program, `$2` a document, `$3` the output folder and `$4` the test backend.
    private func shell(_ line: String) async throws -> (code: Int32, output: String, errors: String) {
        let document = Corpus.folder.appending(path: "Corpus/chat.json").path
        let url = try await TestBackend.url().absoluteString
        let words = ["-c", line, "sh", SiblingProgram.url("feathers-models").path, document, folder.path, url]
        return try await SiblingProgram.onThread {
            let (process, output, errors) = (ChildProcess(), Pipe(), Pipe())
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = words
            (process.standardOutput, process.standardError) = (output, errors)
            try process.run()
            let printed = try output.fileHandleForReading.readToEnd() ?? Data()
            let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (
                process.terminationStatus, String(decoding: printed, as: UTF8.self),
                String(decoding: complaints, as: UTF8.self)
            )
        }
    }

    @Test(
        "in a shell, a document comes by a pipe and is checked by another", .inTurn,
        .enabled(if: !TestBackend.isSkipped))
    func standardInput() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let written = try await shell(#"cat "$2" | "$1" --from - --output "$3""#)
        #expect(
            written.code == 0 && written.output == "2 services, 2 files written, 0 removed in \(folder.path).\n",
            "\(written)")
        #expect(try file("Message.swift").hasPrefix("// Written by feathers-models from standard input.\n"))
        let same = try await shell(#"cat "$2" | "$1" --from - --output "$3" --check"#)
        #expect(same.code == 0 && same.output == "\(folder.path) is up to date.\n", "\(same)")
        let moved = try await shell(#"sed 's/"pinned"/"isPinned"/' "$2" | "$1" --from - --output "$3" --check"#)
        #expect(moved.code == 1 && moved.output.contains("+ var isPinned: Bool?"), "\(moved)")
        let nothing = try await shell(#""$1" --from - --output "$3" </dev/null"#)
        #expect(nothing.code == 65 && nothing.errors.hasPrefix("standard input is not JSON: "), "\(nothing)")
    }

    @Test(
        "in a shell, a protected document is read by a token or by a header", .inTurn,
        .enabled(if: !TestBackend.isSkipped))
    func protected() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let refused = try await shell(#""$1" --from "$4/protected/swagger.json" --output "$3""#)
        #expect(
            refused.code == 69 && refused.errors.contains("Pass '--token' or '--header' if it is protected."),
            "\(refused)")
        let read = try await shell(#""$1" --from "$4/protected/swagger.json" --token docs-token --output "$3""#)
        #expect(read.code == 0, "\(read)")
        let header = #"--header 'Authorization: Bearer docs-token'"#
        let checked = try await shell(#""$1" --from "$4/protected/swagger.json" \#(header) --output "$3" --check"#)
        #expect(checked.code == 0 && checked.output.hasSuffix(" is up to date.\n"), "\(checked)")
        #expect(try !file("Message.swift").contains("docs-token"))
    }
}
