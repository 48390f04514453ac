import ExampleProgram
import Feathers
import Foundation

/// `Chat <url> <room> <email>` chats on a Feathers server: asks for the password, shows messages, and sends the lines
/// that are typed. With `--transport feathers6`, the server is one of FeathersJS 6, which sends events over HTTP.
@main
enum Chat {
    static let usage = """
        Usage: Chat URL ROOM EMAIL [--transport feathers6]

        Chats in the terminal. Press ^D to leave.

          URL    a FeathersJS server, like http://localhost:3030
          ROOM   the name of the room
          EMAIL  the email address to sign in with; the password is asked for
        """

    static func main() async {
        await ExampleProgram.run(usage: usage) { arguments in
            var arguments = arguments
            var usesFeathers6 = false
            if let option = arguments.firstIndex(of: "--transport"), arguments[(option + 1)...].first == "feathers6" {
                usesFeathers6 = true
                arguments.removeSubrange(option...(option + 1))
            }
            guard arguments.count == 3 else { throw ProgramError.usage(usage) }
            let url = try ExampleProgram.server(arguments[0], or: usage)
            let lines = Lines(from: STDIN_FILENO)
            let signals = ProcessSignal.received()
            async let _: Void = { for await _ in signals { lines.finish() } }()
            let password = await Terminal.secret("Password: ") { await lines.next() }
            if let password {
                try await chat(on: url, usesFeathers6, in: arguments[1], as: arguments[2], password, saying: lines)
            }
        }
    }

    private static func chat(
        on url: URL, _ usesFeathers6: Bool, in name: String, as email: String, _ password: String, saying lines: Lines
    ) async throws {
        let app = usesFeathers6 ? FeathersApp(transport: .feathers6(url)) : FeathersApp(transport: .socketIO(url))
        try app.use(authentication: AuthenticationOptions())
        try await withFeathersApp(app) { app in
            // Fails immediately if there is no server. Later, a lost connection is restored.
            try await app.connect()
            let room = try await ChatRoom(name, of: app, email: email, password: password) {
                ExampleProgram.write("\($0)\n")
            }
            ExampleProgram.write("You are \(room.author), in '\(name)'. Press ^D to leave.\n")
            try await room.run(saying: lines.values)
        }
    }
}
