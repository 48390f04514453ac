import Feathers
import Foundation
import TestBackend
import Testing

@testable import Swarm

@Suite("The example that lets many clients act on a server", .timeLimit(.minutes(10)))
struct SwarmTests {
    @Test(
        "A wrong script is refused with the line and the word",
        arguments: [
            ("connect\nlissten messages created", "s.swarm:2: 'lissten': expected connect, "),
            ("# what\n10 times evry 1s connect", "s.swarm:2: 'evry': expected connect, "),
            ("10 time connect", "s.swarm:1: 'time': expected 'times'."),
            ("first 0 clients connect", "s.swarm:1: '0': expected a whole number of at least 1."),
            ("first 5 client connect", "s.swarm:1: 'client': expected 'clients'."),
            ("pause 10", "s.swarm:1: '10': expected a duration such as 250ms, 10s or 2m."),
            ("create messages", "s.swarm:1: end of the line: expected JSON: "),
            (#"create messages {"n": <client>, }"#, #"s.swarm:1: '{"n":': expected JSON: "#),
            ("get messages", "s.swarm:1: end of the line: expected an id."),
            ("together now", "s.swarm:1: 'now': unexpected at the end of a step."),
            ("\n# nothing\n", "s.swarm: the script has no steps."),
        ])
    func wrong(script: String, message: String) throws {
        let error = try #require(throws: SwarmError.self) { try Script(script, name: "s.swarm", overREST: false) }
        #expect(error.status == 65)
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }

    @Test("REST has no events to listen to")
    func restEvents() throws {
        let error = try #require(throws: SwarmError.self) { try Script("connect\nlisten messages created", name: "s", overREST: true) }
        #expect(error.message == "s:2: 'listen': REST delivers no events; use '--transport socketio'.")
    }

    @Test(
        "A wrong command line is refused",
        arguments: [
            [], ["--clients", "0", "--url", "http://localhost", "--script", "s"], ["--url", "nowhere"], ["--transport", "pigeon"],
            ["--sgv", "x"],
            ["--url"],
        ])
    func arguments(words: [String]) throws {
        #expect(try #require(throws: SwarmError.self) { try Options(words) }.status == 64)
    }

    @Test("Percentiles are at most 1/64 too large")
    func percentiles() {
        var histogram = Histogram()
        for value in 1...100_000 { histogram.add(.microseconds(value)) }
        for percent in [1, 50, 90, 99, 100] {
            let (found, exact) = (histogram.percentile(percent) / .microseconds(1), Double(percent) * 1_000)
            #expect(found >= exact && found <= exact * (1 + 1.0 / 64), "\(percent) %: \(found)")
        }
    }

    @Suite("against a server", .inTurn, .enabled(if: !TestBackend.isSkipped))
    struct Runs {
        private static let backend = TestBackend(variables: [:])

        private func swarm(_ script: String, _ arguments: [String] = []) async throws -> (status: Int32, output: String, chart: String) {
            let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (file, chart) = (folder.appending(path: "test.swarm"), folder.appending(path: "chart.svg"))
            try script.write(to: file, atomically: true, encoding: .utf8)
            let url = try await Self.backend.url()
            let (status, output) = try await SiblingProgram.onThread {
                let (process, output) = (Process(), Pipe())
                process.executableURL = SiblingProgram.url("Swarm")
                process.arguments = ["--url", "\(url)", "--script", file.path, "--svg", chart.path] + arguments
                process.standardOutput = output
                try process.run()
                let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
            }
            return (status, output, (try? String(contentsOf: chart, encoding: .utf8)) ?? "")
        }

        /// The cells of the row that begins with a title.
        private func row(_ title: String, _ output: String) -> [String] {
            let line = output.split(separator: "\n").first { $0.hasPrefix(title + " ") } ?? ""
            return line.dropFirst(title.count).replacing(" ms", with: "ms").replacing(" s", with: "s").split(separator: " ").map(
                String.init)
        }

        @Test("50 clients hear everything that five of them say, also over REST")
        func events() async throws {
            let room = UUID().uuidString
            let script = """
                connect
                authenticate alice@example.com p4ssw0rd   # all are the same user
                listen messages created since sentAt
                together
                first 5 clients 4 times every 10ms create messages {"room": "\(room)", "text": "<client>-<number>", "sentAt": <now>}
                wait 20 messages created within 60s
                find messages {"room": "\(room)", "$limit": 1}
                disconnect
                """
            let run = try await swarm(script, ["--clients", "50", "--at-once", "10"])
            #expect(run.status == 0, "\(run.output)")
            #expect(row("connect", run.output).prefix(2) == ["50", "0"])
            #expect(row("authenticate", run.output).prefix(2) == ["50", "0"])
            #expect(row("create messages", run.output).prefix(2) == ["20", "0"])
            let events = row("event messages created", run.output)
            #expect(events.prefix(2) == ["1000", "0"] && events.count == 6 && !events.contains("–"), "\(run.output)")
            #expect(row("find messages", run.output).prefix(2) == ["50", "0"])
            #expect(run.chart.contains("event messages created") && run.chart.hasSuffix("</svg>\n"))

            let steps = "5 times create todos {\"room\": \"\(room)\"}\nget todos <client>"
            let rest = try await swarm(steps, ["--clients", "4", "--transport", "rest"])
            #expect(row("create todos", rest.output).prefix(2) == ["20", "0"], "\(rest.output)")
        }

        @Test("Steps that fail are counted by their errors, and the others go on")
        func failures() async throws {
            let script = """
                connect
                get todos nothing
                listen todos removed
                wait 1 todos removed within 100ms
                find todos {"$limit": 1}
                first 2 clients authenticate alice@example.com wrong
                together
                """
            let run = try await swarm(script, ["--clients", "3"])
            #expect(run.status == 1)
            #expect(row("get todos", run.output).prefix(2) == ["0", "3"], "\(run.output)")
            #expect(row("wait todos removed", run.output).prefix(2) == ["0", "3"])
            #expect(row("find todos", run.output).prefix(2) == ["3", "0"])
            #expect(run.output.contains("failed 2 ×: authenticate: Invalid login"))
        }
    }
}
