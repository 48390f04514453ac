import Feathers
import FeathersTesting
import Foundation

// The README's samples, each one as it stands there: `ReadmeTests` compares them.

private nonisolated struct Message: Codable, Sendable {
    var id: Int?
    var text: String
}

private func introduction() async throws {
    let app = FeathersApp(transport: .rest(URL(string: "http://localhost:3030")!))
    let messages = app.service("messages", of: Message.self)

    let message = try await messages.create(Message(text: "Hello"))
    let recent = try await messages.find(
        .where("text", .notEquals("")).sorted(by: "createdAt", .descending).limit(10))
    _ = (message, recent)
}

func readmeServices() async throws {
    let app = FeathersApp()
    let todos = try await app.use(MemoryService(multi: .all), at: "todos")

    let todo = try await todos.create(["text": "Write a tour", "done": false])
    try await todos.patch(todo.id, with: ["done": true])
    try await todos.patchAll(query: .where("done", false), with: ["done": true])
    try await todos.remove(todo.id)
    try await todos.removeAll(query: .where("done", true))
}

private func typedServices(_ app: FeathersApp) async throws {
    let messages = app.service("messages", of: Message.self)
    let page = try await messages.find(.limit(20).skip(40))
    for message in page { print(message.text) }
    print("\(page.count) of \(page.total ?? page.count)")
    try await messages.patch(7, with: ["text": "edited"])
    let archived = try await messages.call(
        "archive", with: ["id": 7], returning: Message.self)
    _ = archived
}

actor Counter: ServiceProtocol {
    private var count: Int64 = 0

    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        count += data["by"]?.integer ?? 1
        return ["count": .integer(count)]
    }
}

func readmeOwnService(_ app: FeathersApp) async throws -> JSONValue {
    let counter = try await app.use(Counter(), at: "counter")
    let counted = try await counter.create(["by": 2])
    return counted
}

func readmeQueries() -> [Query<JSONValue>] {
    let adults = Query.where("age", .greaterThanOrEqual(18)).where("age", .lessThan(65))
    let team = Query.any(of: [
        .where("team", "red"), .where("address.city", .isIn(["Rome", "Oslo"])),
    ])
    let sorted = adults.sorted(by: "name").limit(10).selecting("id", "name")
    let raw = Query(["$text": ["$search": "feathers"]])
    return [adults, team, sorted, raw]
}

let requireText: Hook = { context in
    guard context.data?["text"]?.string?.isEmpty == false else {
        throw FeathersError(.badRequest, "A message needs text")
    }
}

let measured: AroundHook = { context, next in
    let start = ContinuousClock.now
    try await next(&context)
    print("\(context.method) took \(start.duration(to: .now))")
}

func readmeHooks(_ app: FeathersApp, _ messages: Service<JSONValue>) async {
    await messages.use(
        hooks: Hooks(
            before: [.create: [requireText]],
            after: [{ context in print("\(context.method) of \(context.path) is done") }],
            error: [{ context in print("failed: \(context.error!)") }]))

    await messages.use(
        hooks: .setting("sentAt", on: .create) { _ in .string(Date.now.ISO8601Format()) })
    app.use(hooks: .retrying(attempts: 3))
    app.use(hooks: .timeout(.seconds(5), for: .find))
}

private func events(_ messages: Service<Message>) async throws {
    let created = messages.events(.created)
    async let first = created.first()
    try await messages.create(Message(text: "Hi"))
    print(try await first.text)

    for await change in messages.changes() {
        switch change {
        case .created(let message), .updated(let message), .patched(let message):
            print("now: \(message.text)")
        case .removed(let message): print("removed: \(message.text)")
        }
    }
}

private func realTime() async throws {
    let app = FeathersApp(transport: .socketIO(URL(string: "http://localhost:3030")!))
    try await withFeathersApp(app) { app in
        let messages = app.service("messages", of: Message.self)
        let created = messages.events(.created)
        try await messages.create(Message(text: "Hi"))
        for await message in created { print(message.text) }
    }
}

private func connecting(_ url: URL) {
    let mixed = FeathersApp(transport: .mixed(realTime: .socketIO(url), rest: .rest(url)) { $0["reports"] = .rest })
    app(limited: mixed)
}

private func app(limited app: FeathersApp) {
    app.use(hooks: .limiting(to: 6))
    app.use(hooks: .coalescingReads())
}

private struct Letter: Codable, Queryable {
    var id: Int
    var isRead: Bool
    var senderID: Int
    var createdAt: Date

    enum CodingKeys: String, CodingKey { case id, isRead, senderID, createdAt }
}

private nonisolated struct Sender: Codable, Sendable { var name: String }

private func including(_ messages: Service<Letter>, _ isAtEnd: Bool) async throws {
    let author = Letter.relation(to: Sender.self, at: "users", by: .senderID)
    let inbox = messages.live(.sorted(by: .createdAt, .descending).limit(20))
        .including(author)
    for try await snapshot in inbox.snapshots {
        for row in snapshot { print(row.id, row[author]?.name ?? "someone") }
        if isAtEnd, snapshot.hasMore { try await inbox.loadMore() }
    }
}

private func following(_ messages: Service<Letter>, _ show: ([Letter]) -> Void) async throws {
    let newest = messages.live(
        .where(.isRead, false).sorted(by: .createdAt, .descending).limit(20))
    for try await unread in newest {
        show(unread)
    }
    for try await page in messages.pages(of: 100, keyedBy: "id") {
        print(page.count, page.fraction ?? 0)
    }
}

private nonisolated struct User: Codable {
    var email: String
}

private func signingIn(_ app: FeathersApp, _ storage: any TokenStorage) async throws {
    try app.use(
        authentication: AuthenticationOptions(
            storage: storage, refresh: .service("refresh-tokens")))

    let result = try await app.authenticate(
        .local(email: "alice@example.com", password: "p4ssw0rd"))
    let user = try result.user(as: User.self)
    try await app.logOut()
    _ = user
}

private nonisolated struct Profile: Codable, Sendable {
    var name: String
}

private func endpoints(_ app: FeathersApp, photo: URL, folder: URL) async throws {
    let profile = Endpoint<Profile>(.get, "users/me", query: ["verbose": true], rootKeys: ["data", "user"])
    let me = try await app.request(profile)

    let avatar = Endpoint<EmptyResponse>(
        .post, "avatar", body: .multipart([.file("avatar", at: photo, contentType: .png)]))
    try await app.transfer(avatar) { progress in
        for await step in progress { print(step.fraction ?? 0) }
    }

    let report = Endpoint<DownloadedFile>(.get, "reports/7.pdf", to: folder.appending(path: "report.pdf"))
    let file = try await app.request(report).url
    _ = (me, file)
}

private func coding(_ app: FeathersApp) {
    app.coding = CodingOptions(dates: .secondsSince1970, keys: .snakeCase)
    let wrapped = app.service("messages", of: Message.self, rootKeys: ["data"])
    _ = wrapped
}

private func errors(_ messages: Service<Message>) async throws {
    do {
        _ = try await messages.get(4711)
    } catch FeathersError.Code.notFound {
        print("no such message")
    } catch let error as FeathersError {
        print(error.code.rawValue, error.message, error.errors ?? .null)
        if error.execution == .neverSent { print("safe to repeat") }
    }
}

private func outbox(_ app: FeathersApp, _ messages: Service<Message>, _ folder: URL) async throws {
    let outbox = try await Outbox(file: folder.appending(path: "writes.outbox"))
    try app.use(outbox: outbox)

    let queued = try await messages.outbox.create(Message(text: "Written in a tunnel"))
    let sent = try await queued.result()
    _ = sent
}

private func caching(_ app: FeathersApp, _ messages: Service<Message>, _ folder: URL) async throws {
    let storage = LayeredCacheStorage(MemoryCacheStorage(), DiskCacheStorage(directory: folder))
    let cache = ServiceCache(storage, policy: .networkFirstCacheIfFailed, expiration: .after(.seconds(3600)))
    cache["messages"] = ServiceCacheOptions(policy: .cacheFirstNetworkAlways)
    app.use(cache: cache)

    for try await result in messages.cached.find(.limit(20)) {
        print(result.source, result.value.count)
    }
    let offline = try await messages.get(7, params: .caching(.cacheOnly))
    _ = offline
}

func readmeDiagnostics(_ app: FeathersApp) {
    app.use(diagnostics: .standardError)
    app.use(
        diagnostics: .closure { event in print(event) },
        levels: DiagnosticLevels(.warning, [.connection: .debug]))
}

func readmeTesting() async throws -> String {
    let transport = StubTransport()
    transport.stub("messages", .get, with: .value(["id": 1, "text": "from the stub"]))
    transport.stub(
        "messages", .find,
        with: .cycle([.value([]), .error(FeathersError(.unavailable, "Busy"))]))
    let stubbed = FeathersApp(transport: transport).service("messages", of: Message.self)
    let text = try await stubbed.get(1).text
    return text
}
