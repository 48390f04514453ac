import Feathers
import Foundation
import Synchronization
import TestBackend
import Testing

@testable import Quickstart

@Suite("Quickstart")
struct QuickstartTests {
    /// What the quickstart wrote, a run on a server or in memory.
    private func lines(on server: URL?, over transport: ServerTransport = .rest) async throws -> [String] {
        let lines = Mutex<[String]>([])
        try await Quickstart.run(on: server, over: transport, Screen { line in lines.withLock { $0.append(line) } })
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

    @Test("It runs in memory")
    func memory() async throws {
        check(try await lines(on: nil))
    }

    @Test(
        "It runs on a server and leaves nothing behind", .enabled(if: !TestBackend.isSkipped), .serialized,
        arguments: ServerTransport.allCases)
    func server(_ transport: ServerTransport) async throws {
        let server = try await TestBackend.url()
        let messages = FeathersApp(transport: .rest(server)).service("messages")
        let ofTheirs = Query.where("author", .isIn(["Ada", "Grace"])).limit(0)
        let before = try await messages.find(ofTheirs)
        check(try await lines(on: server, over: transport))
        #expect(try await messages.find(ofTheirs)["total"] == before["total"])
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
        #expect(try Arguments([]) == .run(server: nil, transport: .rest))
        #expect(try Arguments(["--help"]) == .help)
        #expect(try Arguments(["--url", "http://localhost:3030"]) == .run(server: URL(string: "http://localhost:3030"), transport: .rest))
        #expect(
            try Arguments(["--url=https://example.com/api", "--transport", "socketio"])
                == .run(server: URL(string: "https://example.com/api"), transport: .socketio))
    }

    @Test(
        "Arguments it does not understand are named",
        arguments: [
            (["--nonsense"], "--nonsense"), (["--url"], "--url"), (["--url", "nowhere"], "nowhere"), (["--url", "ftp://a"], "ftp://a"),
            (["--url", "http://"], "http://"), (["--url", "http://a", "--transport", "carrier"], "carrier"),
            (["--transport", "rest"], "--url"),
        ])
    func mistakes(_ arguments: [String], _ named: String) {
        #expect { try Arguments(arguments) } throws: { "\($0)".contains("'\(named)'") }
    }
}
