import Feathers
import Foundation

/// `Notes <url> <folder> add <text>` takes a note, `Notes <url> <folder> list` shows all notes on the server, and `Notes <url> <folder> watch` shows the
/// notes on this device and every change.
@main
enum Notes {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let command = arguments.count > 2 ? arguments[2] : ""
        let isComplete = arguments.count == (command == "add" ? 4 : 3) && ["add", "list", "watch"].contains(command)
        guard isComplete, let url = URL(string: arguments[0]), url.host() != nil else {
            print("usage: Notes <url of the Feathers server> <folder for notes on this device> list | watch | add <text>")
            exit(64)
        }
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

    /// The notes as text: where they come from, then a line for each note.
    static func text(of snapshot: LiveSnapshot<Note>) -> String {
        var lines: [String] =
            switch snapshot.source {
            case .server: ["-- \(snapshot.records.count) notes"]
            case .kept(.distantPast): ["-- not connected"]
            case .kept(let date): ["-- \(snapshot.records.count) notes of \(date)"]
            }
        for (note, state) in zip(snapshot.records, snapshot.states) {
            let badge =
                switch state {
                case .confirmed: " "
                case .pending: "…"
                case .failed: "!"
                }
            lines.append("\(badge) \(note.text)")
        }
        return lines.joined(separator: "\n")
    }
}
