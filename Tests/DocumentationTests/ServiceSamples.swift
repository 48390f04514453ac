import Feathers
import Foundation

// The samples of the article about services, each one as it stands there: `ReadmeTests` compares them.

nonisolated struct Todo: Codable, Sendable {
    var id: Int?
    var text: String
    var isDone = false
}

func typedTodos(_ app: FeathersApp) async throws -> JSONValue {
    let todos = app.service("todos", of: Todo.self)
    let todo = try await todos.create(Todo(text: "Write a guide"))
    print("number \(todo.id ?? 0)")

    let open = try await todos.find(.where("isDone", false).limit(10))
    for todo in open { print(todo.text) }
    print("\(open.count) of \(open.total ?? open.count)")

    try await todos.patch(1, with: ["isDone": true])
    let raw = try await todos.json.get(1)
    print(raw["text"]?.string ?? "")
    return raw
}

func jsonTodos(_ todos: Service<Todo>, text: String) async throws -> Todo {
    let note = try await todos.create(["text": text, "isDone": false])
    let json = try JSONValue(encoding: note)
    let copy = try json.decode(Todo.self)
    return copy
}

nonisolated struct Chore: Codable, Sendable, Identifiable {
    var id: Int?
    var text: String
    var isDone = false
    var dueAt: String?
}

func singleTasks(_ tasks: Service<Chore>) async throws -> Int {
    if var first = try await tasks.first(.where("isDone", false)) {
        first.isDone = true
        try await tasks.update(first)
        try await tasks.patch(first, with: ["text": "Done", "dueAt": nil])
        try await tasks.remove(first)
    }
    let isThere = try await tasks.count(.where("text", "Write a guide")) > 0
    let total = try await tasks.count()
    let seventh = try await tasks.find(id: 7)
    return isThere || seventh != nil ? total : 0
}

func severalTodos(_ todos: Service<Todo>) async throws -> [Todo] {
    try await todos.create(contentsOf: [Todo(text: "one"), Todo(text: "two")])
    try await todos.patchAll(query: .where("isDone", false), with: ["isDone": true])
    let removed = try await todos.removeAll(query: .where("isDone", true))
    print("\(removed.count) removed")
    return removed
}

func draftedTodo(_ todos: Service<Todo>) async throws -> Todo {
    var draft = try await todos.draft(1)
    draft.text = "Write a second guide"
    try await draft.save()
    return draft.value
}

func paramsOfCalls(_ app: FeathersApp) async throws -> Page<JSONValue> {
    let members = app.service("teams/:team/members")
    let params = Params(
        headers: ["X-Trace": "7"], route: ["team": "red"], timeout: .seconds(3))
    let found = try await members.find(.limit(5), params: params)
    return found
}

func wholeResponse(_ messages: Service<JSONValue>) async throws -> String? {
    let response = try await messages.respond(
        to: ServiceRequest(path: "messages", method: .find))
    let pages = response[HTTPHead.self]?.headers["X-Total-Pages"]
    return pages
}

actor Counters: ServiceProtocol {
    private var counts: [String: Int64] = [:]

    func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
        ["count": .integer(counts["\(id)", default: 0])]
    }

    func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params)
        async throws -> JSONValue
    {
        guard method == "increment", let name = data["name"]?.string else {
            throw FeathersError(.badRequest, "'\(method)' needs a name")
        }
        counts[name, default: 0] += 1
        return try await get(ServiceID(name), params)
    }
}

func ownServices(_ app: FeathersApp) async throws -> JSONValue {
    let counters = try await app.use(
        Counters(), at: "counters", options: ServiceOptions(methods: [.get, "increment"]))
    try await counters.call("increment", with: ["name": "visits"])
    print(try await counters.get("visits"))
    counters.emit("milestone", ["name": "visits"])
    return try await counters.get("visits")
}

nonisolated struct Book: Codable, Sendable {
    var isbn: String
    var title: String
}

actor Shelf: TypedServiceProtocol {
    private var books: [ServiceID: Book] = [:]

    func get(_ id: ServiceID, _ params: Params) async throws -> Book {
        guard let book = books[id] else {
            throw FeathersError(.notFound, "No book '\(id)'")
        }
        return book
    }

    func create(_ book: Book, _ params: Params) async throws -> Book {
        books[ServiceID(book.isbn)] = book
        return book
    }

    func update(_ id: ServiceID, with book: Book, _ params: Params) async throws -> Book {
        books[id] = book
        return book
    }
}

func typedServices(_ app: FeathersApp) async throws -> String {
    let shelf = try await app.use(Shelf(), at: "books")
    try await shelf.create(Book(isbn: "0-306-40615-2", title: "A first book"))
    let book = try await shelf.patch("0-306-40615-2", with: ["title": "A book"])
    return book.title
}

func memoryServices(_ app: FeathersApp) async throws -> JSONValue {
    let records: [JSONObject] = [
        ["_id": "a", "text": "first"], ["_id": "b", "text": "second"],
    ]
    let drafts = MemoryService(
        id: "_id", multi: .all, pagination: Pagination(default: 10, max: 50), records: records
    )
    try await app.use(drafts, at: "drafts")
    return try await app.service("drafts").get("b")
}

func subApps(_ app: FeathersApp) async throws -> [String] {
    let admin = FeathersApp()
    try await admin.use(MemoryService(), at: "users")
    app.use(admin, at: "admin")
    let users = app.service("admin/users")
    _ = users
    return app.servicePaths
}
