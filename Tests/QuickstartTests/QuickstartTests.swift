import Feathers
import Foundation
import Synchronization
import TestBackend
import Testing

@testable import Quickstart

@Suite("Quickstart", .serialized, .inTurn)
struct QuickstartTests {
    /// What the quickstart wrote, a run on a server or in memory.
    private func lines(on server: URL?, over transport: ServerTransport = .rest, as account: Account? = nil)
        async throws -> [String]
    {
        let lines = Mutex<[String]>([])
        try await Quickstart.run(
            on: server, over: transport, as: account, Screen { line in lines.withLock { $0.append(line) } })
        return lines.withLock { $0 }
    }

    private func check(_ lines: [String]) {
        let text = lines.joined(separator: "\n")
        #expect(lines.filter { $0.contains("create  ") }.count == 3)
        #expect(text.contains("2 by Ada: Shall we? · Hello, Feathers"))
        #expect(text.contains("Grace: Hello, Ada! (edited)"))
        #expect(text.contains(#"BadRequest: A message needs text, {"text":"must not be empty"}"#))
        #expect(text.contains("NotFound: No record found for id"))
        let events = lines.filter { $0.contains("event  ") }.compactMap { $0.split(separator: " ").dropFirst().first }
        #expect(events == ["created", "created", "created", "patched", "removed", "removed"])
    }

    @Test("It runs in memory, and ends with three lines that say what to try next")
    func memory() async throws {
        let lines = try await lines(on: nil)
        check(lines)
        let next = Array(lines.suffix(3))
        #expect(next[0] == "  try next    swift run Quickstart --url http://localhost:3030")
        #expect(next[1].contains("swift run Board http://localhost:3030 board-data team Ada"))
        #expect(next[2].contains("Getting started"))
    }

    @Test(
        "It runs on a server and leaves nothing behind", .inTurn, .enabled(if: !TestBackend.isSkipped), .serialized,
        arguments: ServerTransport.allCases)
    func server(_ transport: ServerTransport) async throws {
        let server = try await TestBackend.url()
        let messages = FeathersApp(transport: .rest(server)).service("messages")
        let ofTheirs = Query.where("author", .isIn(["Ada", "Grace"])).limit(0)
        let before = try await messages.find(ofTheirs)
        check(try await lines(on: server, over: transport))
        #expect(try await messages.find(ofTheirs).total == before.total)
    }

    @Test(
        "It signs in first, and says who it is and never the password", .inTurn, .enabled(if: !TestBackend.isSkipped),
        arguments: ServerTransport.allCases)
    func signIn(_ transport: ServerTransport) async throws {
        let server = try await TestBackend.url()
        let lines = try await lines(
            on: server, over: transport, as: Account(email: "alice@example.com", password: "p4ssw0rd"))
        check(lines)
        let text = lines.joined(separator: "\n")
        #expect(text.contains("signed in   as alice@example.com, until 2"))
        #expect(!text.contains("p4ssw0rd"))
        await #expect {
            try await self.lines(
                on: server, over: transport, as: Account(email: "alice@example.com", password: "hunter2"))
        } throws: {
            "\($0)".contains("alice@example.com") && "\($0)".contains("Invalid login") && !"\($0)".contains("hunter2")
        }
    }

    @Test("A server that is not there is unavailable, and named", arguments: ServerTransport.allCases)
    func unreachable(_ transport: ServerTransport) async throws {
        await #expect {
            try await lines(on: URL(string: "http://127.0.0.1:1"), over: transport)
        } throws: {
            FeathersError.Code.unavailable ~= $0 && "\($0)".contains("127.0.0.1:1")
        }
    }

    @Test("Arguments it understands")
    func arguments() throws {
        #expect(try Arguments([]) == .run(server: nil, transport: .rest, account: nil))
        #expect(try Arguments(["--help"]) == .help)
        #expect(
            try Arguments(["--url", "http://localhost:3030"])
                == .run(server: URL(string: "http://localhost:3030"), transport: .rest, account: nil))
        #expect(
            try Arguments(["--url=https://example.com/api", "--transport", "socketio"])
                == .run(server: URL(string: "https://example.com/api"), transport: .socketio, account: nil))
        #expect(
            try Arguments(["--url", "http://a", "--email=a@b.c", "--password", "p=q"])
                == .run(
                    server: URL(string: "http://a"), transport: .rest, account: Account(email: "a@b.c", password: "p=q")
                ))
    }

    @Test(
        "Arguments it does not understand are named",
        arguments: [
            (["--nonsense"], "--nonsense"), (["--url"], "--url"), (["--url", "nowhere"], "nowhere"),
            (["--url", "ftp://a"], "ftp://a"),
            (["--url", "http://"], "http://"), (["--url", "http://a", "--transport", "carrier"], "carrier"),
            (["--transport", "rest"], "--url"), (["--url", "http://a", "--email", "secret"], "--password"),
            (["--url", "http://a", "--password", "secret"], "--email"),
            (["--email", "secret", "--password", "secret"], "--url"),
            (["--passwort=secret"], "--passwort"),
        ])
    func mistakes(_ arguments: [String], _ named: String) {
        #expect { try Arguments(arguments) } throws: { "\($0)".contains("'\(named)'") && !"\($0)".contains("secret") }
    }
}
