import Feathers
import Foundation
import TestBackend
import Testing

@Suite(
    "The examples that work offline, in a terminal", .timeLimit(.minutes(10)), .inTurn,
    .enabled(if: !TestBackend.isSkipped))
struct OfflineTerminalTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "feathers-terminal-\(UUID())", directoryHint: .isDirectory)

    private func notes(_ url: String, _ words: String..., variables: [String: String] = [:]) throws -> PseudoTerminal {
        try PseudoTerminal(SiblingProgram.url("Notes"), [url, folder.path] + words, variables: variables, columns: 300)
    }

    private func board(_ url: String) throws -> PseudoTerminal {
        try PseudoTerminal(SiblingProgram.url("Board"), [url, folder.path, "team"], columns: 300)
    }

    @Test("Notes lists what the server had, and what is not sent, while it is down")
    func notes() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await DevelopmentServer()
        let nothing = try notes(server.url.replacing("\(server.port)", with: "1"), "list")
        #expect(try await nothing.ended() == 69)
        #expect(
            nothing.sentences == ["The server cannot be reached, and there are no notes on this device yet."])

        for text in ["Milk", "Bread"] {
            let added = try notes(server.url, "add", text)
            #expect(try await added.ended() == 0)
            #expect(added.sentences == ["saved", "sent"])
        }
        let listed = try notes(server.url, "list")
        #expect(try await listed.ended() == 0)
        #expect(listed.sentences == ["-- 2 notes", "  Milk", "  Bread"] && listed.isStyled)

        let watching = try notes(server.url, "watch")
        try await watching.waits(for: "-- 2 notes")
        let second = try notes(server.url, "list")
        #expect(try await second.ended() == 70)
        #expect(second.sentences.count == 1 && second.sentences[0].contains(folder.lastPathComponent))
        watching.type("\u{3}")
        #expect(try await watching.ended() == 0)

        try await server.kill()
        let offline = try notes(server.url, "add", "Tea", variables: ["NO_COLOR": "1"])
        #expect(try await offline.ended() == 0)
        #expect(offline.sentences == ["saved", "1 to be sent once the server can be reached"])
        let stored = try notes(server.url, "list", variables: ["NO_COLOR": "1"])
        #expect(try await stored.ended() == 0)
        #expect(stored.sentences[0].hasPrefix("-- not connected: 3 notes, as of 20"))
        #expect(stored.sentences.dropFirst() == ["  Milk", "  Bread", "… Tea"] && !stored.isStyled)

        // The server is back, without the notes of the one before.
        let again = try await DevelopmentServer(port: server.port)
        let sent = try notes(again.url, "add", "Salt")
        #expect(try await sent.ended() == 0)
        #expect(sent.sentences == ["saved", "sent"])
        let last = try notes(again.url, "list")
        #expect(try await last.ended() == 0)
        // Writes to different records have no order.
        #expect(last.sentences.first == "-- 2 notes" && Set(last.sentences.dropFirst()) == ["  Tea", "  Salt"])
    }

    @Test("Notes lists more notes than the server reports at once")
    func pages() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await DevelopmentServer()
        let messages = FeathersApp(transport: .rest(try #require(URL(string: server.url)))).service("messages")
        try await messages.create(contentsOf: (1...73).map { ["text": "Note \($0)", "book": "notes"] })
        let listed = try notes(server.url, "list")
        #expect(try await listed.ended() == 0)
        #expect(listed.sentences == ["-- 73 notes"] + (1...73).map { "  Note \($0)" })
    }

    @Test("Board says when it is offline, keeps the line that is typed, and is refused a folder that is in use")
    func board() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await DevelopmentServer()
        let seat = try board(server.url)
        try await seat.waits(forPrompt: ">", after: ["-- team: 0 cards"])
        seat.type("add Milk\n")
        try await seat.waits(forPrompt: ">", after: ["-- team: 1 card", "todo   1   Milk"])
        let second = try board(server.url)
        #expect(try await second.ended() == 70)
        #expect(second.sentences.count == 1 && second.sentences[0].contains(folder.lastPathComponent))

        seat.type("add Br")
        try await server.kill()
        try await seat.waits(forPrompt: "> add Br", after: ["-- team: offline, 1 card", "todo   1   Milk"])
        seat.type("ead\n")
        try await seat.waits(
            forPrompt: ">", after: ["-- team: offline, 2 cards", "todo   1   Milk", "todo   2 … Bread"])
        seat.type("fly\n")
        try await seat.waits("what is wrong") { $0.contains("There is no command 'fly':") && $0.last == ">" }

        // The server is back, without the card that the one before had.
        let again = try await DevelopmentServer(port: server.port)
        try await seat.waits(forPrompt: ">", after: ["-- team: 1 card", "todo   1   Bread"])
        seat.type("\u{4}")
        #expect(try await seat.ended() == 0)
        #expect(seat.isCooked)
        try await again.kill()
        let offline = try board(server.url)
        try await offline.waits("the stored board, offline") { lines in
            lines.contains { $0.hasPrefix("-- team: offline, 1 card from this device, as of ") } && lines.last == ">"
        }
        offline.type("\u{3}")
        #expect(try await offline.ended() == 0)
    }
}
