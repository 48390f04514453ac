import ExampleProgram
import Feathers
import Foundation

/// `Notes URL FOLDER list` shows all notes on the server, `add TEXT` takes a note, and `watch` shows the notes on this
/// device and every change.
@main
enum Notes {
    static let usage = """
        Usage: Notes URL FOLDER list | watch | add TEXT

        Notes that can be read and taken offline.

          URL     a FeathersJS server with a service 'messages', like http://localhost:3030
          FOLDER  keeps the notes of this device; for one process at a time
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
            try await withFeathersApp(notebook.app) { _ in
                switch command {
                case "list": try await notebook.list { note, _ in print("\(note.id ?? 0): \(note.text)") }
                case "watch": try await notebook.watch { print(Self.text(of: $0)) }
                default:
                    _ = try await notebook.add(arguments[3])
                    print("saved")
                    let left = try await notebook.send(within: .seconds(10))
                    print(left == 0 ? "sent" : "\(left) to be sent once the server can be reached")
                }
            }
        }
    }

    /// The notes as text: where they come from, then a line for each note.
    static func text(of snapshot: LiveSnapshot<Note>) -> String {
        var lines: [String] =
            switch snapshot.source {
            case .server: ["-- \(snapshot.records.count) notes"]
            case .stored(.distantPast): ["-- not connected"]
            case .stored(let date): ["-- \(snapshot.records.count) notes of \(date)"]
            }
        for row in snapshot {
            let badge =
                switch row.state {
                case .confirmed: " "
                case .pending: "…"
                case .failed: "!"
                }
            lines.append("\(badge) \(row.record.text)")
        }
        return lines.joined(separator: "\n")
    }
}
