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
            let (room, email) = (arguments[1], arguments[2])
            let app = usesFeathers6 ? FeathersApp(transport: .feathers6(url)) : FeathersApp(transport: .socketIO(url))
            try app.use(authentication: AuthenticationOptions())
            try await ExampleProgram.untilInterrupted { try await chat(over: app, in: room, as: email) }
        }
    }

    private static func chat(over app: FeathersApp, in name: String, as email: String) async throws {
        try await withFeathersApp(app) { app in
            // Fails immediately if there is no server. Later, a lost connection is restored.
            try await app.connect()
            let console = Console()
            guard let password = await console.secret("Password: "), !password.isEmpty else {
                throw ProgramError("A password is needed to sign in.")
            }
            let room: ChatRoom
            do {
                room = try await ChatRoom(name, of: app, email: email, password: password) { console.show($0) }
            } catch let error as FeathersError where error.execution == .answered {
                throw ProgramError("The server refused the sign-in as '\(email)': \(error.message).")
            }
            console.show("You are \(ExampleProgram.printable(room.author)), in '\(name)'. Press ^D to leave.")
            console.prompt("> ")
            try await room.run(saying: console.lines)
        }
    }
}
