import FeathersCore
import FeathersTesting
import Testing

@Suite("App")
struct FeathersAppTests {
    actor Named: ServiceProtocol {
        nonisolated let name: String
        init(name: String) { self.name = name }
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { .string(name) }
    }

    @Test("Slashes at both ends of a path do not count", arguments: ["notes", "/notes", "notes/", "//notes//"])
    func slashes(_ path: String) async throws {
        let app = FeathersApp()
        try await app.use(Named(name: "a"), at: path)
        #expect(try await app.service("notes").get(1) == "a")
        #expect(try await app.service(path).get(1) == "a")
        #expect(app.servicePaths == ["notes"])
    }

    @Test("A service nobody registered says so")
    func missing() async throws {
        let app = FeathersApp()
        await #expect { try await app.service("notes").get(1) } throws: { error in
            guard let error = error as? FeathersError else { return false }
            return error.code == .notFound && error.message == "Can not find service 'notes'"
                && error.execution == .neverSent
        }
        #expect(app.servicePaths == [])
    }

    @Test("A service asked for before it is registered has the hooks and subscriptions it was given")
    func lateRegistration() async throws {
        let app = FeathersApp()
        let early = app.service("notes")
        let events = early.events("typing")
        await early.use(hooks: Hooks(after: [{ $0.result = "hooked" }]))
        try await app.use(Named(name: "a"), at: "notes")
        #expect(try await early.get(1) == "hooked")
        app.service("notes").emit("typing", 1)
        #expect(await events.taking(1) == [1])
    }

    @Test("With a transport every path is a remote service, unless one is registered")
    func transport() async throws {
        let transport = StubTransport { request in .string("remote \(request.path)") }
        let app = FeathersApp(transport: transport)
        try await app.use(Named(name: "local"), at: "notes")
        #expect(try await app.service("notes").get(1) == "local")
        #expect(try await app.service("users").get(1) == "remote users")
        #expect(transport.requests.map(\.path) == ["users"])
    }

    @Test("A service taken out is gone for those who hold it too")
    func unuse() async throws {
        let app = FeathersApp()
        let notes = try await app.use(Named(name: "a"), at: "notes")
        #expect(try await app.unuse("/notes") is Named)
        await #expect(throws: FeathersError.self) { try await notes.get(1) }
        #expect(app.servicePaths == [])
        #expect(try await app.unuse("notes") == nil)
    }

    @Test("A service registered twice is replaced")
    func replaced() async throws {
        let app = FeathersApp()
        let notes = try await app.use(Named(name: "a"), at: "notes")
        try await app.use(Named(name: "b"), at: "notes")
        #expect(try await notes.get(1) == "b")
        #expect(app.servicePaths == ["notes"])
    }

    @Test("An empty path and a reserved method name are refused, naming them")
    func refusals() async throws {
        let app = FeathersApp()
        await #expect { try await app.use(Named(name: "a"), at: "/") } throws: { "\($0)".contains("empty") }
        await #expect {
            try await app.use(Named(name: "a"), at: "notes", options: ServiceOptions(methods: [.get, "around"]))
        } throws: {
            "\($0)".contains("'around' on service 'notes' is not allowed as a custom method name")
        }
    }

    @Test("Methods a service does not have, or that its options leave out, are not allowed")
    func methods() async throws {
        let app = FeathersApp()
        let notes = try await app.use(Named(name: "a"), at: "notes")
        let closed = try await app.use(Named(name: "a"), at: "closed", options: ServiceOptions(methods: [.find]))
        await #expect { try await notes.remove(1) } throws: {
            FeathersError.Code.methodNotAllowed ~= $0 && "\($0)".contains("`remove`")
        }
        await #expect { try await notes.call("archive") } throws: { FeathersError.Code.methodNotAllowed ~= $0 }
        await #expect { try await closed.get(1) } throws: { FeathersError.Code.methodNotAllowed ~= $0 }
    }

    @Test("A sub-app's services stand under a prefix and keep their own app's hooks")
    func subApps() async throws {
        let api = FeathersApp()
        let notes = try await api.use(Named(name: "a"), at: "notes")
        api.use(hooks: Hooks(after: [{ context in context.result = .string("api:" + (context.result?.string ?? "")) }]))
        let app = FeathersApp()
        app.use(hooks: Hooks(after: [{ $0.result = "never" }]))
        app.use(api, at: "/api/v1/")
        #expect(app.servicePaths == ["api/v1/notes"])
        #expect(try await app.service("api/v1/notes").get(1) == "api:a")

        let events = app.service("api/v1/notes").events("typing")
        notes.emit("typing", 1)
        #expect(await events.taking(1) == [1])

        try await app.use(Named(name: "own"), at: "api/v1/notes")
        #expect(try await app.service("api/v1/notes").get(1) == "never")
        #expect(try await api.service("notes").get(1) == "api:a")
    }

    @Test("Settings are typed, plugins configure")
    func settings() async throws {
        enum PageSize: AppSetting { typealias Value = Int }
        let app = FeathersApp()
        #expect(app[PageSize.self] == nil)
        try await app.configure { app in
            app[PageSize.self] = 20
            try await app.use(Named(name: "plugged"), at: "notes")
        }
        #expect(app[PageSize.self] == 20)
        #expect(try await app.service("notes").get(1) == "plugged")
    }

    @Test("App hooks added later reach services that were called before")
    func lateAppHooks() async throws {
        let app = FeathersApp()
        let notes = try await app.use(Named(name: "a"), at: "notes")
        #expect(try await notes.get(1) == "a")
        app.use(hooks: Hooks(after: [{ $0.result = "hooked" }]))
        #expect(try await notes.get(1) == "hooked")
    }

    @Test("An app and its services are released, also when a service outlives the app's last mention")
    func release() async throws {
        weak var released: FeathersApp?
        do {
            var app: FeathersApp? = FeathersApp()
            released = app
            let notes = try await #require(app).use(Named(name: "a"), at: "notes")
            await notes.use(hooks: Hooks(before: [{ _ in }]))
            app = nil
            #expect(try await notes.get(1) == "a")
        }
        #expect(released == nil)
    }
}
