import Feathers
import Foundation

// The samples of the article about migrating, each one as it stands there: `ReadmeTests` compares them.

private nonisolated struct User: Codable, Sendable {
    var name: String
}

private func calls(_ url: URL) async throws {
    let app = FeathersApp(transport: .rest(url))
    let users = app.service("users", of: User.self)

    let found = try await users.find(.where("name", "Waldo"))
    try await users.patchAll(query: .where("active", false), with: ["archived": true])
    print(found.count)
}

actor FileService: ServiceProtocol {
    private let folder: URL

    init(folder: URL) {
        self.folder = folder
    }

    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        guard let id = data["id"]?.string else {
            throw FeathersError(.badRequest, "A file needs an id")
        }
        try data.serialized().withUnsafeBytes {
            try Data($0).write(to: folder.appending(path: id))
        }
        return data
    }
}

private func signingIn(_ app: FeathersApp, _ accessToken: String) async throws {
    try app.use(authentication: AuthenticationOptions())
    try await app.authenticate(.oauth(strategy: "facebook-token", accessToken: accessToken))
    try await app.logOut()
}

private func events(_ app: FeathersApp) async throws {
    let users = app.service("users", of: User.self)
    for await user in users.events(.created) { print(user.name) }
}

func migratingHooks(_ app: FeathersApp) async {
    let logCreates: Hook = { context in
        if context.method == .create { print("create happened") }
    }
    let appendUserID: Hook = { context in
        context.data?["userId"] = .string("7")
    }
    await app.service("users").use(
        hooks: Hooks(
            before: [.create: [appendUserID]],
            after: [logCreates],
            error: [{ context in print(context.error?.localizedDescription ?? "") }]))
}
