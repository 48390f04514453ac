import ExampleProgram
import Feathers
import Foundation

/// `Board <url> <folder> <board> [<name>]` shows a shared board and runs the commands that are typed, or that come from a file
/// or a pipe.
@main
enum BoardProgram {
    static let usage = """
        Usage: Board URL FOLDER BOARD [NAME]

        A to-do board in the terminal that is shared with others, and works without a server.

          URL     a FeathersJS server with a service 'cards', like http://localhost:3030
          FOLDER  keeps the cards and changes of this device; for one process at a time
          BOARD   the name of the board
          NAME    your name, shown with the cards you add; needs a service 'people'

        Commands, from the terminal, a file or a pipe, one a line:

        \(Command.usage)

        In front of a title, '…' marks a change that is not sent yet, and '!' one that the server refused.
        """

    static func main() async {
        await ExampleProgram.run(usage: usage) { arguments in
            guard (3...4).contains(arguments.count) else { throw ProgramError.usage(usage) }
            let url = try ExampleProgram.server(arguments[0], or: usage)
            let folder = URL(filePath: arguments[1], directoryHint: .isDirectory)
            let board = try await Board(
                arguments[2], by: arguments.dropFirst(3).first,
                over: .mixed(realTime: .socketIO(url), rest: .rest(url)), folder: folder)
            try await ExampleProgram.untilInterrupted { try await run(board) }
        }
    }

    /// Shows the board and obeys commands, until there are no more.
    private static func run(_ board: Board) async throws {
        let console = Console()
        let screen = Screen(name: board.name, on: console)
        try await withFeathersApp(board.app) { app in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let statuses = app.connectionStatusUpdates()
                    async let _: Void = { for await status in statuses { await screen.show(status) } }()
                    try await board.watch { await screen.show($0) }
                }
                group.addTask {
                    for await title in board.discarded {
                        await screen.note("The server has no '\(title)' any more: the change was discarded.")
                    }
                }
                group.addTask {
                    // Commands name cards that are shown.
                    await screen.wait()
                    console.prompt("> ")
                    for await line in console.lines where !line.isEmpty { await obey(line, board, screen, console) }
                    let left = try await board.send(within: .seconds(2))
                    if left > 0 { console.show("Changes that are sent when this board is opened again: \(left)") }
                }
                // Watching ends only with an error.
                try await group.next()
                group.cancelAll()
            }
        }
    }

    private static func obey(_ line: String, _ board: Board, _ screen: Screen, _ console: Console) async {
        await screen.note(nil)
        do {
            switch try Command(line) {
            case .add(let title): await screen.wait(forCard: try await board.add(title))
            case .move(let card, let column): try await board.move(screen.card(card), to: column)
            case .rename(let card, let title): try await board.rename(screen.card(card), to: title)
            case .remove(let card): try await board.remove(screen.card(card))
            case .more: try await board.showMore()
            case .send:
                if case let left = try await board.send(within: .seconds(10)), left > 0 {
                    console.complain("\(left) are not sent.")
                }
            case .help: console.show(Command.usage)
            }
        } catch {
            console.complain("\(error)")
        }
    }
}
