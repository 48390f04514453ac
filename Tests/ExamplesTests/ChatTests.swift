import Feathers
import Foundation
import TestBackend
import Testing

@testable import Chat
@testable import FeathersTesting

@Suite("The example that chats in a terminal", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct ChatTests {
    /// What somebody at a terminal types and sees.
    private struct Seat: Sendable {
        let typed = AsyncStream.makeStream(of: String.self)
        let seen = ObservedState<[String]>([])

        func type(_ line: String) { typed.continuation.yield(line) }
        func show(_ line: String) { seen.update { $0.append(line) } }
        /// Waits until exactly this has been said; what the program says of itself does not count.
        func waitFor(_ lines: [String]) async throws {
            try await seen.wait { $0.filter { !$0.hasPrefix("*") && !$0.hasPrefix("!") } == lines }
        }
    }

    /// Runs a body while somebody sits in a room.
    private func sitting(
        in room: String, at url: URL, usesFeathers6: Bool = false, _ body: (Seat) async throws -> Void
    ) async throws {
        let seat = Seat()
        let reconnection = ReconnectionPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(100))
        let app =
            usesFeathers6
            ? FeathersApp(transport: .feathers6(url.appending(path: "v6")) { $0.reconnection = reconnection })
            : FeathersApp(transport: .socketIO(url) { $0.reconnection = reconnection })
        try app.use(authentication: AuthenticationOptions())
        try await withFeathersApp(app) { app in
            let chat = try await ChatRoom(room, of: app, email: "alice@example.com", password: "p4ssw0rd") {
                seat.show($0)
            }
            #expect(chat.author == "Alice")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await chat.run(saying: seat.typed.stream) }
                try await body(seat)
                seat.typed.continuation.finish()
                try await group.waitForAll()
            }
        }
    }

    @Test("Both see what one says, and a newcomer what was said before", arguments: [false, true])
    func chats(usesFeathers6: Bool) async throws {
        let (url, room) = (try await TestBackend.url(), UUID().uuidString)
        try await sitting(in: room, at: url, usesFeathers6: usesFeathers6) { first in
            first.type("Hello?")
            first.type("")
            try await first.waitFor(["Alice: Hello?"])
            try await sitting(in: room, at: url) { second in
                try await second.waitFor(["Alice: Hello?"])
                second.type("Hello!")
                try await first.waitFor(["Alice: Hello?", "Alice: Hello!"])
                try await second.waitFor(["Alice: Hello?", "Alice: Hello!"])
            }
        }
    }

    @Test("Who loses the connection is told so, and sees afterwards what was said meanwhile")
    func reconnects() async throws {
        let (url, room) = (try await TestBackend.url(), UUID().uuidString)
        let proxy = try await FaultProxy(to: url)
        try await sitting(in: room, at: proxy.url) { away in
            away.type("Before")
            try await away.waitFor(["Alice: Before"])
            try await proxy.refuse()
            try await proxy.cut()
            try await away.seen.wait { $0.contains("* The connection was lost. Reconnecting…") }
            try await sitting(in: room, at: url) { there in
                there.type("Meanwhile")
                try await there.waitFor(["Alice: Before", "Alice: Meanwhile"])
            }
            try await proxy.accept()
            try await away.waitFor(["Alice: Before", "Alice: Meanwhile"])
            try await away.seen.wait { $0.contains("* Connected again") }
        }
        try await proxy.close()
    }

    @Test("A wrong password is refused")
    func refuses() async throws {
        let app = FeathersApp(transport: .socketIO(try await TestBackend.url()))
        try app.use(authentication: AuthenticationOptions())
        try await withFeathersApp(app) { app -> Void in
            await #expect {
                _ = try await ChatRoom("room", of: app, email: "alice@example.com", password: "hunter2") { _ in }
            } throws: {
                FeathersError.Code.notAuthenticated ~= $0 && !"\($0)".contains("hunter2")
            }
        }
    }

    @Test("The program asks for the password first, and leaves at the end of its input")
    func program() async throws {
        let (url, room) = (try await TestBackend.url(), UUID().uuidString)
        let output = try await SiblingProgram.onThread {
            let (process, input, output) = (ChildProcess(), Pipe(), Pipe())
            process.executableURL = SiblingProgram.url("Chat")
            process.arguments = [url.absoluteString, room, "alice@example.com"]
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data("p4ssw0rd\n".utf8))
            var text = try output.fileHandleForReading.text { $0.hasSuffix("leave.\n") }
            try input.fileHandleForWriting.write(contentsOf: Data("Hi\n".utf8))
            text += try output.fileHandleForReading.text { $0.hasSuffix("Hi\n") }
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return text
        }
        #expect(output == "Password: \nYou are Alice, in '\(room)'. Press ^D to leave.\nAlice: Hi\n")
    }
}

extension FileHandle {
    /// What comes until it fulfils a condition, or ends.
    fileprivate func text(until condition: (String) -> Bool) throws -> String {
        var text = ""
        while !condition(text) {
            let bytes = try nextBytes()
            if bytes.isEmpty { break }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }
}
