import Feathers
import Foundation

// The samples of the article about endpoints, each one as it stands there: `EndpointArticleTests` compares them.

private nonisolated struct Profile: Codable, Sendable {
    var name: String
}

private nonisolated struct Session: Codable, Sendable {
    var token: String
}

private nonisolated struct Event: Codable, Sendable {
    var at: Date
}

private func answers(_ app: FeathersApp) async throws {
    let profile = Endpoint<Profile>(
        .get, "users/me", query: ["verbose": true], rootKeys: ["data", "user"])
    let me = try await app.request(profile)
    let response = try await app.response(to: profile)
    print(
        response.value.name, response.status, response.headers["ETag"] ?? "no ETag",
        response.url)
    _ = me
}

private func transports(_ app: FeathersApp) async throws {
    app.endpointTransport = .rest(URL(string: "https://api.example.com")!)
    try await app.request(
        Endpoint<EmptyResponse>(.post, "ping"),
        over: .rest(URL(string: "https://status.example.com")!))
}

private func paths() {
    let member = Endpoint<Profile>(
        .get, "teams/:team/members/:id", route: ["team": "red/blue", "id": "7"])
    let logo = Endpoint<Data>(.get, "https://cdn.example.com/logo.png")
    _ = (member, logo)
}

private func bodies(_ photo: URL) {
    let rename = Endpoint<Profile>(.patch, "users/me", body: .json(["name": "Ada"]))
    let note = Endpoint<EmptyResponse>(
        .post, "notes", body: .text("- item", contentType: "text/markdown"))
    let login = Endpoint<Session>(
        .post, "login", body: .form([URLQueryItem(name: "user", value: "ada")]))
    let avatar = Endpoint<EmptyResponse>(
        .post, "avatar",
        body: .multipart([.file("avatar", at: photo), .field("crop", "1:1")]))
    let archive = Endpoint<EmptyResponse>(.put, "archive", body: .file(photo))
    _ = (rename, note, login, avatar, archive)
}

private func hooks(_ app: FeathersApp) {
    app.use(
        hooks: Hooks(after: [
            "request": [
                { context in
                    if context.response?[HTTPHead.self]?.headers["Deprecation"] != nil {
                        print("\(context.path) is deprecated")
                    }
                }
            ]
        ]))
}

private func files(_ app: FeathersApp, _ documents: URL) async throws {
    let report = Endpoint<DownloadedFile>(
        .get, "reports/7.pdf", to: documents.appending(path: "report.pdf"))
    let response = try await app.transfer(report) { progress in
        for await step in progress {
            print(step.received, step.totalToReceive ?? 0, step.fraction ?? 0)
        }
    }
    print(response.value.url)
}

private func coding(_ app: FeathersApp) async throws {
    app.coding = CodingOptions(dates: .iso8601WithoutFraction, keys: .snakeCase)
    let events = app.service(
        "events", of: Event.self, coding: CodingOptions(dates: .secondsSince1970))
    var params = Params()
    params.coding = CodingOptions(nonConformingFloats: .null)
    let event = try await events.get(7, params: params)
    _ = event
}
