import Feathers
import Foundation
import TestBackend
import Testing

@testable import EventStream
@testable import ExampleProgram

@Suite("How the example programs end", .timeLimit(.minutes(10)), .inTurn)
struct ProgramTests {
    private struct Ended: Sendable {
        let code: Int32
        let output: String
        let errors: String
        /// One line, and no crash.
        var isSentence: Bool {
            errors.hasSuffix("\n") && errors.dropLast().contains("\n") == false && !errors.contains("Fatal")
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "feathers-program-\(UUID())", directoryHint: .isDirectory)
    private let nowhere = "http://127.0.0.1:1"

    private static func run(_ name: String, _ arguments: String...) async throws -> Ended {
        try await SiblingProgram.onThread {
            let (process, output, errors) = (ChildProcess(), Pipe(), Pipe())
            process.executableURL = SiblingProgram.url(name)
            process.arguments = arguments
            (process.standardInput, process.standardOutput, process.standardError) = (
                FileHandle.nullDevice, output, errors
            )
            try process.run()
            let text = { (pipe: Pipe) in
                String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            }
            let (said, complained) = (try text(output), try text(errors))
            process.waitUntilExit()
            return Ended(code: process.terminationStatus, output: said, errors: complained)
        }
    }

    @Test(
        "--help is for standard output, wrong arguments for standard error",
        arguments: ["Notes", "EventStream", "JobWorker", "Board", "Chat"])
    func usage(name: String) async throws {
        let help = try await Self.run(name, "--help")
        #expect(help.code == 0 && help.output.hasPrefix("Usage: \(name) URL ") && help.errors.isEmpty)
        let wrong = try await Self.run(name, "localhost:3030", "b", "list")
        #expect(wrong.code == 64 && wrong.output.isEmpty && wrong.errors == help.output)
    }

    @Test("The quickstart, whose arguments are options, is used the same way")
    func quickstart() async throws {
        let help = try await Self.run("Quickstart", "--help")
        #expect(help.code == 0 && help.output.hasPrefix("Usage: swift run Quickstart ") && help.errors.isEmpty)
        let wrong = try await Self.run("Quickstart", "--nonsense")
        #expect(wrong.code == 64 && wrong.output.isEmpty)
        #expect(wrong.errors == "Unknown argument '--nonsense'.\n\n" + help.output)
    }

    @Test("A list of notes without a server is one sentence and 69")
    func serverDown() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let ended = try await Self.run("Notes", nowhere, folder.path, "list")
        #expect(ended.code == 69 && ended.isSentence, "\(ended)")
    }

    @Test("A folder that another program has is one sentence and 70")
    func folderInUse() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = FeathersApp(transport: .rest(try #require(URL(string: nowhere))))
        try await app.use(localStore: .directory(folder))
        let ended = try await Self.run("Notes", nowhere, folder.path, "list")
        #expect(ended.code == 70 && ended.isSentence && ended.errors.contains(folder.lastPathComponent), "\(ended)")
        await app.shutDown(within: .seconds(1))
    }

    @Test("A port that is in use is one sentence that names it, and 70")
    func portInUse() async throws {
        let listener = try Listener(port: 0)
        let clients = listener.clients()
        let ended = try await Self.run("EventStream", nowhere, "\(listener.port)", "messages")
        #expect(ended.code == 70 && ended.isSentence && ended.errors.contains("port \(listener.port)"), "\(ended)")
        _ = clients
    }
}
