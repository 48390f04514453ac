import ExampleProgram
import Feathers
import Foundation

/// A small chat in one program: the same code runs on a service in memory and on a FeathersJS server.
@main
struct Quickstart {
    static func main() async {
        await ExampleProgram.run(usage: Arguments.usage) { arguments in
            do {
                guard case .run(let server, let transport, let account) = try Arguments(arguments) else { return }
                try await run(on: server, over: transport, as: account, Screen())
            } catch let mistake as Arguments.Mistake {
                throw ProgramError.usage("\(mistake)\n\n\(Arguments.usage)")
            }
        }
    }

    static func run(
        on server: URL?, over transport: ServerTransport = .rest, as account: Account? = nil, _ screen: Screen
    ) async throws {
        let app: FeathersApp
        if let server {
            app = transport.app(for: server)
            screen.title("feathers-swift quickstart, on \(server.absoluteString) over \(transport.description)")
        } else {
            app = FeathersApp()
            try await app.use(MemoryService(startID: 1, pagination: Pagination(default: 10, max: 50)), at: "messages")
            screen.title("feathers-swift quickstart, on a service in memory")
        }
        if account != nil { try app.use(authentication: AuthenticationOptions()) }
        try await withFeathersApp(app) { app in
            // Reports connection problems immediately if the transport keeps a connection. Over REST, the first call
            // reports them.
            if app.connectionStatus != nil { try await app.connect() }
            if let account { try await signIn(account, to: app, screen) }
            try await Chat(app: app, screen: screen).run()
        }
        showNext(on: server, screen)
    }

    /// Says what to try next.
    private static func showNext(on server: URL?, _ screen: Screen) {
        let url = server?.absoluteString ?? "http://localhost:3030"
        screen.line("")
        let first = server == nil ? "Quickstart --url \(url)" : "Chat \(url) lobby alice@example.com"
        screen.step("try next", "swift run \(first)")
        screen.step("", "swift run Board \(url) board-data team Ada")
        screen.step("", "Getting started: your own program, in five minutes")
    }

    private static func signIn(_ account: Account, to app: FeathersApp, _ screen: Screen) async throws {
        do {
            let result = try await app.authenticate(.local(email: account.email, password: account.password))
            screen.step(
                "signed in",
                "as \(account.email)" + (result.payload?.expiresAt.map { ", until \($0.formatted(.iso8601))" } ?? ""))
        } catch let error as FeathersError where (401...407).contains(error.code.rawValue) {
            throw SignInRefusal(description: "The server refused the sign-in as '\(account.email)': \(error)")
        }
    }
}

/// The server has no such user, or the password is wrong.
struct SignInRefusal: Error, CustomStringConvertible {
    let description: String
}
