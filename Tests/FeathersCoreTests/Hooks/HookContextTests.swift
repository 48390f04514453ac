import FeathersCore
import Testing

@Suite("Hook context")
struct HookContextTests {
    actor Notes: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
            ["id": id.json, "query": .object(params.query.json)]
        }

        func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue { data }

        func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue {
            ["method": .string(method.rawValue), "data": data]
        }
    }

    @Test("What a before hook changes is what the method sees")
    func changes() async throws {
        let notes = try await FeathersApp().use(Notes(), at: "notes")
        await notes.use(
            hooks: Hooks(before: [
                .get: [
                    { context in
                        context.id = 2
                        context.params.query = Query(["a": 1])
                    }
                ]
            ]))
        #expect(try await notes.get(1) == ["id": 2, "query": ["a": 1]])
    }

    @Test("The caller's params are not changed by hooks")
    func valueSemantics() async throws {
        let notes = try await FeathersApp().use(Notes(), at: "notes")
        await notes.use(hooks: Hooks(before: [{ $0.params.query.json["secret"] = 1 }]))
        let params = Params(query: Query(["a": 1]))
        _ = try await notes.get(1, params: params)
        #expect(params.query.json == ["a": 1])
    }

    @Test("A context tells what the call is, and its type tells which hooks run")
    func properties() async throws {
        let trace = Trace()
        let app = FeathersApp()
        let notes = try await app.use(Notes(), at: "notes")
        let describe: Hook = { context in
            trace.add(
                "\(context.type) \(context.path) \(context.method) \(context.id.map(String.init(describing:)) ?? "-")")
        }
        await notes.use(
            hooks: Hooks(
                around: [
                    { context, next in
                        try await describe(&context)
                        try await next(&context)
                        try await describe(&context)
                    }
                ], before: [describe], after: [describe]))
        _ = try await notes.get("x")
        #expect(trace.all == ["around notes get x", "before notes get x", "after notes get x", "around notes get x"])
    }

    @Test("An error hook sees the error, and what was true when the call failed")
    func original() async throws {
        let trace = Trace()
        let notes = try await FeathersApp().use(Notes(), at: "notes")
        await notes.use(
            hooks: Hooks(
                after: [{ _ in throw FeathersError(.conflict, "late") }],
                error: [
                    { context in
                        let original = context.original
                        let id: JSONValue = original?.result?["id"] ?? .null
                        trace.add("\(context.type) \(original?.type.rawValue ?? "-") \(id)")
                        trace.add("\(context.error as? FeathersError == nil) \(context.result == nil)")
                    }
                ]))
        await #expect(throws: FeathersError.self) { try await notes.get(7) }
        #expect(trace.all == ["error after 7", "false true"])
    }

    @Test("A hook reaches other services through the app")
    func otherServices() async throws {
        let app = FeathersApp()
        let notes = try await app.use(Notes(), at: "notes")
        try await app.use(Notes(), at: "authors")
        await notes.use(
            hooks: Hooks(after: [
                .get: [
                    { context in
                        let author = try await context.app.service("authors").get(9)
                        context.result?["author"] = author["id"]
                    }
                ]
            ]))
        #expect(try await notes.get(1)["author"] == 9)
    }

    @Test("Custom methods have hooks of their own, and values pass from hook to hook")
    func customMethods() async throws {
        enum Caller: ParamsKey { typealias Value = String }
        let notes = try await FeathersApp().use(Notes(), at: "notes")
        await notes.use(
            hooks: Hooks(
                before: [.all: [{ $0.params[Caller.self] = "Ada" }]],
                after: [
                    "archive": [
                        { context in
                            let caller = context.params[Caller.self] ?? "-"
                            context.result?["by"] = .string(caller)
                        }
                    ]
                ]))
        #expect(
            try await notes.call("archive", with: ["a": 1]) == ["method": "archive", "data": ["a": 1], "by": "Ada"])
        #expect(try await notes.call("other") == ["method": "other", "data": nil])
    }

    @Test("A custom method can not be called by a standard name")
    func standardNameAsCustom() async throws {
        let notes = try await FeathersApp().use(Notes(), at: "notes")
        await #expect { try await notes.call("get", with: [:]) } throws: {
            "\($0)".contains("'get' is not a custom method")
        }
    }

    @Test("Registered hooks can be inspected")
    func inspection() async throws {
        let notes = try await FeathersApp().use(Notes(), at: "notes")
        #expect(await notes.hooks.isEmpty)
        await notes.use(hooks: Hooks(before: [.create: [{ _ in }, { _ in }]], error: [{ _ in }]))
        let hooks = await notes.hooks
        #expect(hooks.before[.create].count == 2)
        #expect(hooks.before.scopes == [.create])
        #expect(hooks.error[.all].count == 1)
        #expect(hooks.after.isEmpty)
    }
}
