import Feathers
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
