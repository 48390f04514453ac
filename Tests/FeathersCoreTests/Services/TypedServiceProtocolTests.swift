import FeathersCore
import Testing

@Suite("Services of one's own in terms of models")
struct TypedServiceProtocolTests {
    struct Todo: Codable, Sendable, Equatable {
        var id: Int
        var text: String
        var isDone = false
    }

    actor Todos: TypedServiceProtocol {
        private var todos: [ServiceID: Todo] = [:]

        func find(_ params: Params) async throws -> Page<Todo> {
            Page(data: todos.values.sorted { $0.id < $1.id }, total: todos.count, limit: 10, skip: 0)
        }

        func get(_ id: ServiceID, _ params: Params) async throws -> Todo {
            guard let todo = todos[id] else { throw FeathersError(.notFound, "No todo \(id)") }
            return todo
        }

        func create(_ todo: Todo, _ params: Params) async throws -> Todo {
            todos[todo.id.serviceID] = todo
            return todo
        }

        func update(_ id: ServiceID, with todo: Todo, _ params: Params) async throws -> Todo {
            todos[id] = todo
            return todo
        }
    }

    @Test("Models go in and come out, a patch merges, and events carry the records")
    func whole() async throws {
        let todos = try await FeathersApp().use(Todos(), at: "todos")
        let changes = todos.changes()
        #expect(try await todos.create(Todo(id: 1, text: "Write")) == Todo(id: 1, text: "Write"))
        #expect(try await todos.patch(1, with: ["isDone": true]) == Todo(id: 1, text: "Write", isDone: true))
        #expect(try await todos.update(1, with: Todo(id: 1, text: "Read")).text == "Read")
        #expect(try await todos.get(1) == Todo(id: 1, text: "Read"))
        let page = try await todos.find()
        #expect(page.data == [Todo(id: 1, text: "Read")] && page.total == 1)
        var kinds: [EventName] = []
        for await change in changes {
            kinds.append(change.name)
            if kinds.count == 3 { break }
        }
        #expect(kinds == [.created, .patched, .updated])
    }

    @Test("What does not fit the model is a bad request that names the property")
    func misfit() async throws {
        let todos = try await FeathersApp().use(Todos(), at: "todos").json
        await #expect {
            try await todos.create(["id": 1, "text": 7])
        } throws: { error in
            FeathersError.Code.badRequest ~= error && "\(error)".contains("'text'") && !"\(error)".contains("7")
        }
        try await todos.create(["id": 1, "text": "a", "isDone": false])
        await #expect { try await todos.patch(1, with: ["isDone": "yes"]) } throws: {
            FeathersError.Code.badRequest ~= $0
        }
    }

    @Test("Methods it does not have, and several records at once, are refused")
    func refused() async throws {
        let todos = try await FeathersApp().use(Todos(), at: "todos").json
        await #expect { try await todos.remove(1) } throws: { FeathersError.Code.methodNotAllowed ~= $0 }
        await #expect { try await todos.create(contentsOf: [[:]]) } throws: {
            FeathersError.Code.methodNotAllowed ~= $0
        }
        await #expect { try await todos.patchAll(query: Query(), with: [:]) } throws: {
            FeathersError.Code.methodNotAllowed ~= $0
        }
        await #expect { try await todos.call("archive") } throws: { FeathersError.Code.methodNotAllowed ~= $0 }
    }
}
