import FeathersCore
import FeathersTesting
import TestBackend
import Testing

@Suite("A service")
struct ServiceEdgeTests {
    struct Task: Codable, Equatable, Sendable {
        var id: Int?
        var text = ""
    }

    @Test("with an id property of its own keeps it without its model, also in hooks of calls that need no model")
    func idProperty() async throws {
        struct Letter: ServiceModel {
            var id: Int
            typealias CreateData = [String: String]
            typealias PatchData = [String: String]
            enum CodingKeys: String, CodingKey { case id = "_id" }
        }
        let app = FeathersApp(transport: StubTransport { _ in [["_id": 7]] })
        let letters = app.service(ServiceDefinition<Letter>(path: "letters", id: "_id"))
        let seen = Ledger()
        await letters.use(
            hooks: Hooks(after: [
                { context in
                    let id = try await context.service.id(of: context.result?[0] ?? .null)
                    context.app.diagnostics.log(.notice, .calls, "saw \(id)", [:])
                }
            ]))
        app.use(diagnostics: seen)
        _ = try await letters.find()
        _ = try await letters.json.find()
        _ = try await letters.json.json.find()
        for try await page in letters.pages(.limit(1), of: 1) { _ = page }
        #expect(seen.messages.filter { $0 == "saw 7" }.count == 4)
    }

    @Test("never takes a missing id for every record when it streams")
    func streamedIDs() async throws {
        let transport = StubTransport { _ in [] }
        let tasks = FeathersApp(transport: transport).service("tasks", of: Task.self)
        let missing: Int? = nil
        for method in [ServiceMethod.get, .update, .patch, .remove] {
            await #expect { for try await _ in tasks.stream(method) {} } throws: { "\($0)".contains("needs an id") }
            await #expect { for try await _ in tasks.stream(method, id: missing, with: ["text": "x"]) {} } throws: {
                FeathersError.Code.badRequest ~= $0
            }
        }
        #expect(transport.requests.isEmpty)
        for try await _ in tasks.stream(.remove, id: 1) {}
        #expect(transport.requests.map(\.id) == [1])
    }

    @Test("tells a record that is missing from a path without a service")
    func missingService() async throws {
        await #expect(throws: FeathersError.self) { try await FeathersApp().service("nowhere").find(id: 1) }
        let errors: [(FeathersError, Bool)] = [
            (FeathersError(.notFound, "No record found for id '1'"), true),
            (FeathersError(.notFound, "Service 'tasks' not found"), false),
            (FeathersError(.notFound, "Page not found", data: ["url": "/tasks/1"]), false),
        ]
        for (error, isNil) in errors {
            let transport = StubTransport { _ in throw error }
            let tasks = FeathersApp(transport: transport).service("tasks")
            if isNil {
                #expect(try await tasks.find(id: 1) == nil)
            } else {
                await #expect(throws: FeathersError.self) { try await tasks.find(id: 1) }
            }
        }
    }

    @Test("with a model passes on the params of a call as they are")
    func paramsPassThrough() async throws {
        actor Front: TypedServiceProtocol {
            func get(_ id: ServiceID, _ params: Params) async throws -> Task { Task(text: "\(params.coding == nil)") }
        }
        #expect(try await FeathersApp().use(Front(), at: "front").get(1).text == "true")
    }

    @Test("cannot count by the first of pages that have neither total nor limit")
    func countOfCursorPages() async throws {
        let tasks = FeathersApp(transport: StubTransport { _ in ["data": [["id": 1]], "next": "b"] }).service("tasks")
        await #expect { try await tasks.count() } throws: { "\($0)".contains("have no total") }
    }

    @Test("names the method whose result is no list, and unwraps it where the server wraps it")
    func writtenLists() async throws {
        let tasks = FeathersApp(transport: StubTransport { _ in ["done": 3] }).service("tasks")
        await #expect { try await tasks.patchAll(query: Query(), with: ["a": 1]) } throws: {
            "\($0)".contains("'patch' returned an object with 'done'")
        }
        let wrapped = tasks.of(Task.self, rootKeys: ["done"])
        await #expect { try await wrapped.create(contentsOf: [Task()]) } throws: {
            "\($0)".contains("'create' returned a number")
        }
    }

    @Test("joins raw conditions without losing one that is no object")
    func joining() async throws {
        let transport = StubTransport { _ in [] }
        let tasks = FeathersApp(transport: transport).service("tasks")
        _ = try await tasks.find(["$and": [1, ["b": 2]]], params: Params(query: ["$and": [["a": 1]]]))
        #expect(transport.requests[0].params.query.json == ["$and": [["a": 1], 1, ["b": 2]]])
    }
}
