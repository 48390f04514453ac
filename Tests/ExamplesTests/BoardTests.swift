import Foundation
import Synchronization
import TestBackend
import Testing

@testable import Board

@Suite(
    "The example with a shared board", .serialized, .timeLimit(.minutes(10)), .inTurn,
    .enabled(if: !TestBackend.isSkipped))
struct BoardTests {
    private static let backend = TestBackend(variables: [:])
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "feathers-board-\(UUID())", directoryHint: .isDirectory)

    /// The program, with somebody in front of it.
    private final class Seat: Sendable {
        private let process: ChildProcess
        private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        private let text = Mutex("")

        init(_ arguments: [String]) throws {
            process = ChildProcess()
            process.executableURL = SiblingProgram.url("Board")
            process.arguments = arguments
            (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
            // Another program that inherited these would keep them open.
            for pipe in [input, output, errors] {
                _ = fcntl(pipe.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
                _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
            try process.run()
        }

        func type(_ lines: String...) throws {
            for line in lines { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }
        }

        /// Waits until the board shows exactly these rows. The time limit of the test ends the program, and with it the
        /// wait.
        func shows(_ rows: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let shown = try await withTaskCancellationHandler {
                try await SiblingProgram.onThread { [self] in
                    while true {
                        // What stands before the next heading is a whole board; so is the last one once all rows are
                        // there.
                        let boards = text.withLock(\.self).components(separatedBy: "-- ")
                        let board = (boards.last ?? "").split(separator: "\n", omittingEmptySubsequences: false)
                            .dropFirst().dropLast()
                        if boards.count > 1, board.map(String.init) == rows { return true }
                        let bytes = try output.fileHandleForReading.nextBytes()
                        if bytes.isEmpty { return false }
                        text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                    }
                }
            } onCancel: {
                process.terminate()
            }
            guard !shown else { return }
            let complaints = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            Issue.record(
                "the program ended, with \(text.withLock(\.self))\(complaints)", sourceLocation: sourceLocation)
        }

        /// The heading of the last board.
        var heading: String {
            let last = text.withLock(\.self).components(separatedBy: "-- ").last ?? ""
            return String(last.prefix { $0 != "\n" })
        }

        /// Ends the input.
        /// - Returns: the exit code and everything that was printed since.
        func leave() async throws -> (code: Int32, output: String, errors: String) {
            try input.fileHandleForWriting.close()
            return try await SiblingProgram.onThread { [self] in
                let rest = try output.fileHandleForReading.readToEnd() ?? Data()
                let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                return (
                    process.terminationStatus, String(decoding: rest, as: UTF8.self),
                    String(decoding: complaints, as: UTF8.self)
                )
            }
        }

        func kill() async throws {
            Foundation.kill(process.processIdentifier, SIGKILL)
            try await SiblingProgram.onThread { [process] in process.waitUntilExit() }
        }
    }

    private func seat(_ name: String, at url: URL, _ board: String, by person: String? = nil) throws -> Seat {
        try Seat([url.absoluteString, folder.appending(path: name).path, board] + [person].compactMap(\.self))
    }

    @Test("Two processes write on one board, one without a server and killed in between; both show the same at the end")
    func offline() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try await Self.backend.url()
        let proxy = try await FaultProxy(to: url)
        let (here, visit) = (try seat("here", at: url, "team"), try seat("away", at: proxy.url, "team"))
        try await here.shows([])
        try here.type("add Milk", "add Bread and butter")
        try await here.shows(["todo   1   Milk", "todo   2   Bread and butter"])
        try await visit.shows(["todo   1   Milk", "todo   2   Bread and butter"])
        #expect(visit.heading == "team: 2 cards")
        // What was shown is on disk once the program has ended.
        #expect(try await visit.leave().code == 0)
        try await proxy.refuse()
        let away = try seat("away", at: proxy.url, "team")
        try await away.shows(["todo   1   Milk", "todo   2   Bread and butter"])
        #expect(away.heading.contains("from this device"))
        try away.type("rename Milk Oat milk", "move bread doing", "add Tea")
        try await away.shows(["todo   1 … Oat milk", "todo   2 … Tea", "doing  3 … Bread and butter"])
        try here.type("move 1 done", "rename Bread Rye bread", "add Sugar")
        try await here.shows(["todo   1   Rye bread", "todo   2   Sugar", "done   3   Milk"])

        try await away.kill()
        let again = try seat("away", at: proxy.url, "team")
        try await again.shows(["todo   1 … Oat milk", "todo   2 … Tea", "doing  3 … Bread and butter"])
        #expect(again.heading.contains("from this device"))

        try await proxy.accept()
        let same = ["todo   1   Tea", "todo   2   Sugar", "doing  3   Rye bread", "done   4   Oat milk"]
        try await again.shows(same)
        try await here.shows(same)
        try here.type("remove Tea")
        try await again.shows(["todo   1   Sugar", "doing  2   Rye bread", "done   3   Oat milk"])
        for seat in [here, again] { #expect(try await seat.leave().code == 0) }
        try await proxy.close()
    }

    @Test("Cards show who has added them, as soon as that person is known on this device")
    func authors() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try await Self.backend.url()
        let proxy = try await FaultProxy(to: url)
        try await proxy.refuse()
        let (ada, bob) = (
            try seat("ada", at: proxy.url, "ours", by: "Ada"), try seat("bob", at: url, "ours", by: "Bob")
        )
        try await bob.shows([])
        try bob.type("add Bread")
        try await bob.shows(["todo   1   Bread, Bob"])
        try ada.type("add Milk")
        try await ada.shows(["todo   1 … Milk, Ada"])
        try await proxy.accept()
        let both = ["todo   1   Bread, Bob", "todo   2   Milk, Ada"]
        try await ada.shows(both)
        try await bob.shows(both)
        for seat in [ada, bob] { #expect(try await seat.leave().code == 0) }
        // The server knows Ada by now.
        let again = try seat("ada", at: url, "ours", by: "Ada")
        try await again.shows(both)
        try again.type("send")
        let (code, _, errors) = try await again.leave()
        #expect(code == 0 && errors == "")
        try await proxy.close()
    }

    @Test("A change of a card that the server no longer has is discarded, and the board says so until the next command")
    func discarded() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try await Self.backend.url()
        let proxy = try await FaultProxy(to: url)
        let (here, visit) = (try seat("here", at: url, "lost"), try seat("away", at: proxy.url, "lost"))
        try await here.shows([])
        try here.type("add Milk", "add Bread")
        try await visit.shows(["todo   1   Milk", "todo   2   Bread"])
        #expect(try await visit.leave().code == 0)
        try await proxy.refuse()
        let away = try seat("away", at: proxy.url, "lost")
        try await away.shows(["todo   1   Milk", "todo   2   Bread"])
        try away.type("move milk doing")
        try await away.shows(["todo   1   Bread", "doing  2 … Milk"])
        try here.type("remove Milk")
        try await here.shows(["todo   1   Bread"])
        try await proxy.accept()
        try await away.shows(["todo   1   Bread", "The server has no 'Milk' any more: the change was discarded."])
        try away.type("move bread done")
        try await away.shows(["done   1   Bread"])
        for seat in [here, away] { #expect(try await seat.leave().code == 0) }
        try await proxy.close()
    }

    @Test("Commands may come from a file; what is wrong is said, and the rest is done; what is left is sent later")
    func script() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let nowhere = try #require(URL(string: "http://127.0.0.1:1"))
        let seat = try seat("alone", at: nowhere, "mine")
        try seat.type(
            "add Water the plants", "fly", "move water moon", "move 7 done", "rename nobody x", "help",
            "move water done")
        let (code, output, errors) = try await seat.leave()
        #expect(code == 0)
        #expect(output.hasPrefix("-- mine: "))
        #expect(output.contains("1 card from this device\ntodo   1 … Water the plants\n"))
        #expect(output.contains("-- mine: offline, 1 card from this device\n"))
        #expect(output.contains("done   1 … Water the plants\n"))
        #expect(output.hasSuffix("Changes that are sent when this board is opened again: 2\n"))
        #expect(
            errors.hasPrefix("There is no command 'fly':\n")
                && errors.hasSuffix(
                    """
                    There is no column 'moon'. The columns are 'todo', 'doing' and 'done'.
                    There is no card 7.
                    No card begins with 'nobody'.

                    """
                ))
    }

    @Test("A directory that another process has is refused, and so are wrong arguments; --help tells what is right")
    func mistakes() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try await Self.backend.url()
        let first = try seat("here", at: url, "empty")
        try await first.shows([])
        let second = try await seat("here", at: url, "empty").leave()
        #expect(second.code == 70 && second.errors.contains("local.sqlite"), "\(second)")
        let left = try await first.leave()
        #expect(left.code == 0, "\(left)")
        let wrong = try await Seat(["somewhere", "b", "c"]).leave()
        #expect(wrong.code == 64 && wrong.errors == BoardProgram.usage + "\n")
        let help = try await Seat(["--help"]).leave()
        #expect(help.code == 0 && help.output == BoardProgram.usage + "\n")
    }

    @Test("Its models are those that feathers-models makes of its schemas")
    func models() async throws {
        let output = try await SiblingProgram.onThread {
            let (process, output) = (ChildProcess(), Pipe())
            process.executableURL = SiblingProgram.url("feathers-models")
            process.currentDirectoryURL = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
            let folder = "Sources/Examples/Board"
            process.arguments = ["--from", "\(folder)/Schemas", "--output", "\(folder)/Models", "--check"]
            process.standardOutput = output
            try process.run()
            return String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }
        #expect(output == "Sources/Examples/Board/Models is up to date.\n")
    }
}
