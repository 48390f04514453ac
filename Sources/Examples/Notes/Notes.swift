import ExampleProgram
import Feathers
import Foundation

/// `Notes URL FOLDER list` shows all notes, `add TEXT` takes a note, and `watch` shows the notes and every change. Without
/// a server, they show the notes on this device.
@main
enum Notes {
    static let usage = """
        Usage: Notes URL FOLDER list | watch | add TEXT

        Notes that can be read and taken offline.

          URL     a FeathersJS server with a service 'messages', like http://localhost:3030
          FOLDER  keeps the notes of this device; for one process at a time

          list      shows the notes on the server; without a server, those on this device
          watch     shows the notes and every change, until you press Ctrl-C
          add TEXT  takes a note, and sends it once the server can be reached

        In front of a note, '…' marks one that is not sent yet, and '!' one that the server refused.
        """

    static func main() async {
        await ExampleProgram.run(usage: usage) { arguments in
            let command = arguments.count > 2 ? arguments[2] : ""
            guard arguments.count == (command == "add" ? 4 : 3), ["add", "list", "watch"].contains(command) else {
                throw ProgramError.usage(usage)
            }
            let url = try ExampleProgram.server(arguments[0], or: usage)
            let folder = URL(filePath: arguments[1], directoryHint: .isDirectory)
            let notebook = try await Notebook(Notebook.transport(to: url), folder: folder, book: "notes")
            try await ExampleProgram.untilInterrupted {
                try await withFeathersApp(notebook.app) { _ in
                    switch command {
                    case "list": try await list(notebook)
                    case "watch": try await notebook.watch { ExampleProgram.write(text(of: $0)) }
                    default: try await add(arguments[3], to: notebook)
                    }
                }
            }
        }
    }

    private static func list(_ notebook: Notebook) async throws {
        guard let latest = try await notebook.latest(within: .seconds(10)) else { return }
        if latest.source == .stored(since: .distantPast), latest.isEmpty {
            throw ProgramError("The server cannot be reached, and there are no notes on this device yet.", code: 69)
        }
        ExampleProgram.write(text(of: latest))
        // The other pages, if there are more notes than were fetched at once.
        guard latest.source == .server, let total = latest.total, total > latest.count else { return }
        let shown = Set(latest.records.compactMap(\.id))
        try await notebook.list { note, _ in
            if note.id.map(shown.contains) == false { ExampleProgram.write(line(note)) }
        }
    }

    private static func add(_ text: String, to notebook: Notebook) async throws {
        _ = try await notebook.add(text)
        ExampleProgram.write("saved\n")
        let left = try await notebook.send(within: .seconds(10))
        ExampleProgram.write(left == 0 ? "sent\n" : "\(left) to be sent once the server can be reached\n")
    }

    /// The notes as text: where they come from, then a line for each note.
    static func text(of snapshot: LiveSnapshot<Note>) -> String {
        let count = snapshot.total.map { max($0, snapshot.count) } ?? snapshot.count
        let notes = "\(count) \(count == 1 ? "note" : "notes")"
        let heading =
            switch snapshot.source {
            case .server: notes
            case .stored(.distantPast) where snapshot.isEmpty: "not connected"
            case .stored(.distantPast): "not connected: \(notes) on this device"
            case .stored(let date): "not connected: \(notes), as of \(date.formatted(.iso8601))"
            }
        return ExampleProgram.styled("-- \(heading)", .dim) + "\n"
            + snapshot.map { line($0.record, $0.state) }.joined()
    }

    private static func line(_ note: Note, _ state: RecordState = .confirmed) -> String {
        let badge =
            switch state {
            case .confirmed: " "
            case .pending: ExampleProgram.styled("…", .yellow)
            case .failed: ExampleProgram.styled("!", .red)
            }
        return "\(badge) \(ExampleProgram.printable(note.text))\n"
    }
}
