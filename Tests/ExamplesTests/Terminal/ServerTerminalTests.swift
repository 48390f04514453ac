import Feathers
import Foundation
import TestBackend
import Testing

@Suite(
    "The examples that run without a person, in a terminal", .timeLimit(.minutes(10)), .inTurn,
    .enabled(if: !TestBackend.isSkipped))
struct ServerTerminalTests {
    private func worker(_ url: String) throws -> PseudoTerminal {
        try PseudoTerminal(SiblingProgram.url("JobWorker"), [url, "todos", "mail"], columns: 300)
    }

    @Test("JobWorker sets bad jobs aside, does the others, and goes on when the server is back")
    func jobs() async throws {
        let server = try await DevelopmentServer()
        let url = try #require(URL(string: server.url))
        let todos = FeathersApp(transport: .rest(url)).service("todos")
        // More bad jobs than a worker looks at together.
        try await todos.create(contentsOf: (0..<25).map { ["queue": "mail", "state": "open", "text": JSONValue($0)] })
        try await todos.create(["queue": "mail", "state": "open", "text": "Welcome"])
        let worker = try worker(server.url)
        try await worker.waits(for: "25: Welcome")
        #expect(worker.lines.filter { $0.hasPrefix("Job ") && $0.contains(" has failed: ") }.count == 25)
        let states = try await todos.find().map { $0["state"]?.string ?? "" }
        #expect(states.filter { $0 == "failed" }.count == 25)
        #expect(try await todos.get(0)["reason"]?.string?.contains("text") == true)

        try await server.kill()
        try await worker.waits("word of the lost connection") { $0.contains { $0.contains("connection") } }
        let again = try await DevelopmentServer(port: server.port)
        try await todos.create(["queue": "mail", "state": "open", "text": "Still there?"])
        try await worker.waits(for: "0: Still there?")
        worker.type("\u{3}")
        #expect(try await worker.ended() == 0)
        _ = again
    }

    @Test("Without a server, those that need one end with a sentence and 69")
    func down() async throws {
        let nowhere = "http://127.0.0.1:1"
        for words in [
            ["JobWorker", nowhere, "todos", "mail"], ["Quickstart", "--url", nowhere],
            ["Quickstart", "--url", nowhere, "--transport", "socketio"],
        ] {
            let program = try PseudoTerminal(SiblingProgram.url(words[0]), Array(words.dropFirst()), columns: 300)
            #expect(try await program.ended() == 69, "\(words): \(program.lines)")
            #expect(program.sentences.last?.hasPrefix("The server cannot be reached: ") == true, "\(program.lines)")
        }
    }

    @Test("EventStream says which port is in use, waits for a server that is down, and ends with Ctrl-C")
    func ports() async throws {
        let server = try await DevelopmentServer()
        let busy = try PseudoTerminal(
            SiblingProgram.url("EventStream"), [server.url, "\(server.port)", "messages"])
        #expect(try await busy.ended() == 70)
        #expect(busy.sentences == ["Cannot listen on port \(server.port): Address already in use."])
        for (url, word) in [(server.url, "/health"), ("http://127.0.0.1:1", "next attempt in")] {
            let stream = try PseudoTerminal(SiblingProgram.url("EventStream"), [url, "0", "messages"], columns: 300)
            try await stream.waits("'\(word)'") { $0.contains { $0.contains(word) } }
            stream.type("\u{3}")
            #expect(try await stream.ended() == 0)
        }
    }

    @Test("Hello prints what the guide says")
    func hello() async throws {
        let hello = try PseudoTerminal(SiblingProgram.url("Hello"), [])
        #expect(try await hello.ended() == 0)
        let guide = try String(
            contentsOf: PackageFolder.url.appending(path: "Sources/Feathers/Documentation.docc/GettingStarted.md"),
            encoding: .utf8)
        #expect(guide.contains("`swift run` prints:\n\n```\n\(hello.sentences.joined(separator: "\n"))\n```"))
    }
}
