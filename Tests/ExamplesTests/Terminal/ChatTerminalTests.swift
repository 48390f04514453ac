import Feathers
import Foundation
import TestBackend
import Testing

@Suite(
    "The chat, in a terminal", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct ChatTerminalTests {
    private func chat(_ url: String, as name: String, columns: Int = 100) throws -> PseudoTerminal {
        try PseudoTerminal(SiblingProgram.url("Chat"), [url, "lobby", "\(name)@example.com"], columns: columns)
    }

    private func enter(_ url: String, as name: String, columns: Int = 100) async throws -> PseudoTerminal {
        let seat = try chat(url, as: name, columns: columns)
        try await seat.waits(for: "Password:")
        seat.type("p4ssw0rd\n")
        try await seat.waits(for: "You are \(name.capitalized), in 'lobby'. Press ^D to leave.")
        return seat
    }

    @Test("Nobody's line is broken or shown twice, and a newcomer sees what was said")
    func talks() async throws {
        let server = try await DevelopmentServer()
        let alice = try await enter(server.url, as: "alice")
        alice.type("Hello?\n")
        let entered = "You are Alice, in 'lobby'. Press ^D to leave."
        try await alice.waits(forPrompt: ">", after: ["Password:", entered, "Alice: Hello?"])

        let bob = try await enter(server.url, as: "bob", columns: 60)
        try await bob.waits(forPrompt: ">", after: ["Alice: Hello?"])
        alice.type("I am wrix")
        try await alice.waits(forPrompt: "> I am wrix", after: ["Alice: Hello?"])
        bob.type("Hi, Alice\n")
        try await alice.waits(forPrompt: "> I am wrix", after: ["Alice: Hello?", "Bob: Hi, Alice"])
        alice.type("\u{7F}ting\n")
        let said = ["Alice: Hello?", "Bob: Hi, Alice", "Alice: I am writing"]
        try await alice.waits(forPrompt: ">", after: [entered] + said)
        try await bob.waits(forPrompt: ">", after: ["You are Bob, in 'lobby'. Press ^D to leave."] + said)

        // A line that is longer than the terminal is wide is moved, not wrapped.
        bob.type(String(repeating: "0123456789", count: 10))
        try await bob.waits(forPrompt: "> " + String(repeating: "0123456789", count: 6).suffix(57), after: said)
        bob.type("\u{15}")
        try await bob.waits(forPrompt: ">", after: said)

        let messages = FeathersApp(transport: .rest(try #require(URL(string: server.url)))).service("messages")
        try await messages.create(["room": "lobby", "author": "Eve", "text": "\u{1B}[2J\u{7}boo\nAlice: I am Eve"])
        try await alice.waits(forPrompt: ">", after: said + ["Eve: �[2J�boo Alice: I am Eve"])

        alice.type("\u{4}")
        bob.type("\u{3}")
        #expect(try await alice.ended() == 0)
        #expect(try await bob.ended() == 0)
        #expect(alice.isCooked && bob.isCooked)
        for seat in [alice, bob] { #expect(!seat.lines.contains { $0.contains("p4ssw0rd") }) }
    }

    @Test("It says when the connection is lost and when it is back, and keeps what is typed")
    func reconnects() async throws {
        let server = try await DevelopmentServer()
        let alice = try await enter(server.url, as: "alice")
        alice.type("Before\n")
        try await alice.waits(for: "Alice: Before")
        alice.type("Mean")
        // The message's response follows its event. It has been sent before this one.
        let messages = FeathersApp(transport: .rest(try #require(URL(string: server.url)))).service("messages")
        _ = try await messages.find()
        try await server.kill()
        try await alice.waits(
            forPrompt: "> Mean", after: ["Alice: Before", "* The connection was lost. Reconnecting…"])
        alice.type("while\n")
        try await alice.waits(
            forPrompt: ">", after: ["* Waiting for the connection to send: Meanwhile"])

        // This server knows nothing of the one before, and its ids begin again.
        let again = try await DevelopmentServer(port: server.port)
        #expect(again.url == server.url)
        try await alice.waits(for: "* Connected again")
        try await alice.waits(for: "Alice: Meanwhile")
        let bob = try await enter(server.url, as: "bob")
        bob.type("Here\n")
        try await alice.waits(forPrompt: ">", after: ["Bob: Here"])
        #expect(alice.lines.filter { $0.hasPrefix("Alice:") } == ["Alice: Before", "Alice: Meanwhile"])
        alice.type("\u{4}")
        #expect(try await alice.ended() == 0)
    }

    @Test("Without a server or without a password, it ends with a sentence")
    func refused() async throws {
        let down = try chat("http://127.0.0.1:1", as: "alice", columns: 300)
        #expect(try await down.ended() == 69)
        #expect(down.sentences.count == 1 && down.sentences[0].hasPrefix("The server cannot be reached: "))

        let server = try await DevelopmentServer()
        for (keys, sentence) in [
            ("\n", "A password is needed to sign in."), ("\u{4}", "A password is needed to sign in."),
            ("hunter2\n", "The server refused the sign-in as 'alice@example.com': Invalid login."),
        ] {
            let seat = try chat(server.url, as: "alice")
            try await seat.waits(for: "Password:")
            seat.type(keys)
            #expect(try await seat.ended() == 70)
            #expect(seat.sentences == ["Password:", sentence] && seat.isCooked)
        }
    }
}
