import Feathers
import Foundation
import TestBackend
import Testing

@Suite(
    "The server that comes with the package", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct DevelopmentServerTests {
    /// The lines of a section of the introduction.
    private func section(_ title: String, of lines: [String]) -> [String] {
        lines.drop { !$0.hasPrefix(title) }.dropFirst().prefix { !$0.isEmpty }.map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    @Test("It says who can sign in, and Ctrl-C stops it")
    func accounts() async throws {
        let server = try await DevelopmentServer()
        #expect(server.terminal.lines.first == "The development server of feathers-swift is at \(server.url)")
        let guide = try String(
            contentsOf: PackageFolder.url.appending(path: "Sources/Feathers/Documentation.docc/GettingStarted.md"),
            encoding: .utf8)
        let begin = server.terminal.lines.prefix(11).joined(separator: "\n")
        #expect(guide.contains("```\n\(begin.replacing(server.url, with: "http://localhost:3030"))\n```"))
        #expect(!server.terminal.lines.contains { $0.hasPrefix("READY") || $0.hasPrefix("SCRIPT") })
        let accounts = section("Accounts", of: server.terminal.lines).map { $0.split(separator: " ").map(String.init) }
        #expect(accounts.map(\.first) == ["alice@example.com", "bob@example.com", "carol@example.com"])
        for account in accounts {
            let app = FeathersApp(transport: .rest(try #require(URL(string: server.url))))
            try app.use(authentication: AuthenticationOptions())
            let result = try await app.authenticate(.local(email: account[0], password: account[1]))
            #expect(result.user?["email"]?.string == account[0])
        }
        server.terminal.type("\u{3}")
        #expect(try await server.terminal.ended() == 0)
        #expect(!server.terminal.lines.contains { $0.contains("Traceback") })
    }

    @Test(
        "Each call that it prints works", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func calls() async throws {
        let server = try await DevelopmentServer()
        let services = section("Services", of: server.terminal.lines)
        let calls = services.filter { $0.hasPrefix("curl ") }
        #expect(calls.count == 16 && services.count == 32)
        for call in calls {
            let output = try await SiblingProgram.onThread {
                let (process, output) = (ChildProcess(), Pipe())
                process.executableURL = URL(filePath: "/bin/sh")
                process.arguments = ["-c", call]
                (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
                try process.run()
                let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                process.waitUntilExit()
                #expect(process.terminationStatus == 0)
                return text
            }
            let json = output.split(separator: "\r\n\r\n").last.map(String.init) ?? ""
            #expect((try? JSONValue(parsing: json)) != nil, "\(call): \(output)")
        }
    }

    @Test("Each example that it prints runs as printed")
    func examples() async throws {
        let server = try await DevelopmentServer()
        let folder = FileManager.default.temporaryDirectory.appending(path: "feathers-examples-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let examples = section("Examples", of: server.terminal.lines).map { $0.split(separator: " ").map(String.init) }
        let said = [
            "Quickstart": "  took  ", "Chat": "Password:", "Notes": "sent", "Board": "-- team: 0 cards",
            "EventStream": "/health", "JobWorker": "Waiting for jobs in 'mail'. Press Ctrl-C to stop.",
        ]
        #expect(examples.map { $0[2] } == ["Quickstart", "Chat", "Notes", "Board", "EventStream", "JobWorker"])
        for words in examples {
            let arguments = words.dropFirst(3).map { word in
                // Its folders are in the current one, and the port may be in use here.
                word.hasSuffix("-data") ? folder.appending(path: word).path : word == "8080" ? "0" : word
            }
            let program = try PseudoTerminal(SiblingProgram.url(words[2]), arguments)
            let text = try #require(said[words[2]])
            try await program.waits("'\(text)' from \(words[2])") { $0.contains { $0.contains(text) } }
            if !["Quickstart", "Notes"].contains(words[2]) { program.type("\u{3}") }
            #expect(try await program.ended() == 0, "\(words[2]): \(program.lines)")
        }
    }

    @Test("The first program of the guide prints on it what the guide says")
    func hello() async throws {
        let server = try await DevelopmentServer()
        // The guide's changes to `Hello`: a transport instead of a service in memory.
        let app = FeathersApp(transport: .rest(try #require(URL(string: server.url))))
        let messages = app.service("messages")
        for number in 1...2 {
            let created = messages.events(.created)
            let sent = try await messages.create(["text": "Hello, Feathers"])
            #expect(sent["id"] == .init(number) && sent["text"] == "Hello, Feathers")
            #expect(try await created.first()["text"] == "Hello, Feathers")
            let found = try await messages.find(.where("text", .notEquals("")).limit(10))
            #expect(found.map { $0["text"] } == Array(repeating: "Hello, Feathers", count: number))
        }
    }

    @Test("A port that is in use is a sentence")
    func portInUse() async throws {
        let server = try await DevelopmentServer()
        let second = try DevelopmentServer.start(port: server.port)
        #expect(try await second.ended() != 0)
        let said = second.lines.filter { !$0.isEmpty }
        #expect(
            said == [
                "Port \(server.port) is in use. Stop the program that uses it, or choose another one with --port."
            ])
    }
}
