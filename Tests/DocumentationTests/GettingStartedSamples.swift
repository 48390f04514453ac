import Feathers
import Foundation

// The samples of the article to begin with, each one as it stands there: `ReadmeTests` compares them. Its first program
// is `Sources/Examples/Hello`.

private nonisolated struct Message: Codable, Sendable {
    var id: Int?
    var text: String
}

/// - Returns: who is signed in.
func gettingStarted(on url: URL) async throws -> String {
    try await catches(overREST(url).service("messages", of: Message.self))
    let app = FeathersApp(transport: .socketIO(url))
    try await withFeathersApp(app) { app in
        let messages = app.service("messages", of: Message.self)
        let created = messages.events(.created)
        try await messages.create(Message(text: "Hello, everyone"))
        for await message in created.prefix(1) { print("received: \(message.text)") }
    }
    return try await signsIn(overREST(url))
}

private func overREST(_ url: URL) -> FeathersApp {
    let app = FeathersApp(transport: .rest(url))
    return app
}

private func signsIn(_ app: FeathersApp) async throws -> String {
    try app.use(authentication: AuthenticationOptions())
    let result = try await app.authenticate(
        .local(email: "alice@example.com", password: "p4ssw0rd"))
    print("signed in as \(result.user?["name"]?.string ?? "a user")")
    return result.user?["name"]?.string ?? ""
}

private func catches(_ messages: Service<Message>) async throws {
    do {
        _ = try await messages.get(4711)
    } catch FeathersError.Code.notFound {
        print("there is no such message")
    } catch FeathersError.Code.unavailable {
        print("the server cannot be reached")
    }
}
