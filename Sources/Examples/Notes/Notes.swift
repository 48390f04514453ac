import Feathers
import Foundation

/// `Notes <url> <file> add <text>` takes a note, `Notes <url> <file> list` shows all notes.
@main
enum Notes {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let isList = arguments.count == 3 && arguments[2] == "list"
        let isAdd = arguments.count == 4 && arguments[2] == "add"
        guard isList || isAdd, let url = URL(string: arguments[0]), url.host() != nil else {
            print("usage: Notes <url of the Feathers server> <file for unsent notes> list | add <text>")
            exit(64)
        }
        let notebook = try await Notebook(Notebook.transport(to: url), outbox: URL(filePath: arguments[1]), book: "notes")
        try await withFeathersApp(notebook.app) { _ in
            if isList {
                try await notebook.list { note, _ in print("\(note.id ?? 0): \(note.text)") }
            } else {
                let note = try await notebook.add(arguments[3])
                print("saved; it will be sent once the server can be reached")
                print("sent as number \(try await note.result().id ?? 0)")
            }
        }
    }
}
