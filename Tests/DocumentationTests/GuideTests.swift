import Feathers
import FeathersTesting
import Foundation
import Synchronization
import TestBackend
import Testing

@Suite("The samples of the articles for everyday use", .timeLimit(.minutes(10)))
struct GuideTests {
    private func app(_ records: [JSONObject] = [], at path: String = "messages") async throws -> FeathersApp {
        let app = FeathersApp()
        try await app.use(MemoryService(startID: 1, multi: .all, records: records), at: path)
        return app
    }

    @Test("Getting started: against a server", .inTurn, .enabled(if: !TestBackend.isSkipped))
    func begins() async throws {
        #expect(try await gettingStarted(on: TestBackend.url()) == "Alice")
    }

    @Test("Services: typed, several at once, with params")
    func services() async throws {
        let app = try await app(at: "todos")
        #expect(try await typedTodos(app)["isDone"] == true)
        #expect(try await draftedTodo(app.service("todos", of: Todo.self)).text == "Write a second guide")
        #expect(
            try await severalTodos(app.service("todos", of: Todo.self)).map(\.text)
                == ["Write a second guide", "one", "two"])

        let transport = StubTransport()
        transport.stub("teams/:team/members", .find, with: .value([]))
        #expect(try await paramsOfCalls(FeathersApp(transport: transport)).isEmpty)
        let params = transport.requests.first?.params
        #expect(params?.route == ["team": "red"] && params?.timeout == .seconds(3) && params?.query == .limit(5))

        let http = StubHTTPClient()
        http.stub("/messages", "GET", with: .bytes(Array("[]".utf8), headers: ["X-Total-Pages": "7"]))
        let site = try #require(URL(string: "https://api.example.com"))
        #expect(
            try await wholeResponse(FeathersApp(transport: .rest(site, httpClient: http)).service("messages")) == "7")
    }

    @Test("Services: those of one's own, in memory, and of another app")
    func ownServices() async throws {
        let app = FeathersApp()
        let milestones = app.service("counters").events("milestone")
        #expect(try await DocumentationTests.ownServices(app) == ["count": 1])
        #expect(try await DocumentationTests.typedServices(app) == "A book")
        #expect(try await milestones.first() == ["name": "visits"])
        await #expect { try await app.service("counters").find() } throws: { FeathersError.Code.methodNotAllowed ~= $0 }
        #expect(try await memoryServices(app)["text"] == "second")
        #expect(try await subApps(app).contains("admin/users"))
    }

    @Test("Hooks: they run, change the call, and answer it")
    func hooks() async throws {
        let app = try await app()
        let messages = app.service("messages")
        await registersHooks(app, messages)
        #expect(try await messages.create(["text": "  Hi "])["text"] == "Hi")
        await #expect { try await messages.create(["text": "  "]) } throws: {
            ($0 as? FeathersError)?.errors == ["text": "missing"]
        }
        _ = try await messages.find()

        let users = try await app.use(MemoryService(records: [["id": "ada", "name": "Ada"]]), at: "users")
        await users.use(hooks: Hooks(before: [.get: [serveCurrentUser]], error: [.get: [nullInsteadOfNotFound]]))
        #expect(try await users.get("me")["name"] == "Ada")
        #expect(try await users.get("nobody") == .null)

        let created = messages.events(.created)
        await messages.use(hooks: Hooks(before: [.create: [rememberRequester, addAuthor]], after: [hideFromEvents]))
        #expect(try await messages.create(["text": "Hi"])["author"] == "Ada")
        #expect(try await created.first() == ["id": 2])
    }

    @Test("Hooks: the ready-made ones")
    func readyMade() async throws {
        let app = try await app()
        let messages = app.service("messages")
        await readyHooks(app, messages)
        #expect(try await messages.create(["text": "Hi"])["sentAt"]?.string != nil)
        await #expect { try await messages.create([:]) } throws: { FeathersError.Code.badRequest ~= $0 }
    }

    @Test(
        "Authentication: local services find the user in their params, hooks ask the app, and an app may say who it is")
    func authentication() async throws {
        let app = FeathersApp()
        let answer: JSONValue = ["accessToken": "token", "user": ["id": "ada"]]
        try await app.use(StubTransport { _ in answer }, at: "authentication")
        try app.use(authentication: AuthenticationOptions())
        let drafts = try await app.use(Drafts(), at: "drafts")
        await #expect { try await drafts.find() } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        try await app.authenticate(.local(email: "ada@example.com", password: "p4ssw0rd"))
        await drafts.use(hooks: Hooks(before: [.create: [knowsUser()]]))
        try await drafts.create(["text": "Hi"])
        #expect(try await drafts.find().data == [["text": "Hi", "userId": "ada"]])
        #expect(app.identity == Identity("ada"))

        let transport = StubTransport { _ in [] }
        let other = FeathersApp(transport: transport)
        ownAuthentication(other, "team", "key")
        _ = try await other.service("messages").find()
        #expect(other.identity?.name == "team" && transport.requests.first?.params.headers == ["X-API-Key": "key"])
    }

    @Test("Queries: what they are as JSON")
    func queries() throws {
        func text(_ query: Query<JSONValue>) -> String { JSONValue.object(query.json).description }
        #expect(
            text(builtQuery())
                == #"""
                {"age":{"$gte":18},"name":{"$ne":"Bob"},"$sort":{"name":1,"age":-1},\#
                "$limit":10,"$skip":20,"$select":["id","name"]}
                """#
        )
        #expect(
            groupedQueries().map(text) == [
                #"{"$or":[{"team":"red"},{"address.city":{"$in":["Rome","Oslo"]}}]}"#,
                #"""
                {"archived":false,"$and":[{"$or":[{"team":"red"},{"address.city":{"$in":["Rome","Oslo"]}}]},\#
                {"tags":"swift"}]}
                """#,
            ])
        #expect(
            rawQueries().map(text) == [
                #"{"age":{"$gt":18},"$limit":10}"#, #"{"$text":{"$search":"feathers"},"$limit":5}"#,
                #"{"team":"red","$populate":"user"}"#, #"{"name":{"$regex":"^A"}}"#,
            ])
        _ = longLists(URL(filePath: "/"))
    }

    @Test("Queries: judged here")
    func matching() async throws {
        #expect(try matchesHere() == [true, false])
        #expect(try await allowsOperators(FeathersApp())[0]["name"] == "Ada")
    }

    @Test("Errors: caught, thrown, repeated")
    func errors() async throws {
        let transport = StubTransport()
        let app = FeathersApp(transport: transport)
        let messages = app.service("messages")
        for (error, said) in [
            (FeathersError(.notAuthenticated, "No"), "sign in first"),
            (FeathersError(.badRequest, "Bad", errors: ["text": "too short"]), "too short"),
            (FeathersError(.badRequest, "Bad"), "Bad"),
            (FeathersError(.unavailable, "Off", execution: .neverSent), "nothing was sent"),
            (FeathersError(.timeout, "Late", execution: .mayHaveExecuted), "it may have been done"),
        ] {
            transport.stub("messages", .create, with: .error(error))
            var heard: [String] = []
            try await handles(messages) { heard.append($0) }
            #expect(heard == [said])
        }
        transport.stub("messages", .get, with: .error(FeathersError(418, "Short and stout")))
        #expect(try await ownCodes(messages))
        let off = ServiceStub.error(FeathersError(.unavailable, "Off", execution: .neverSent))
        transport.stub("messages", .create, with: .cycle([off, .value(["id": 1])]))
        #expect(try await repeats(messages) == ["id": 1])

        #expect { try throwsErrors(true, 0) } throws: { ($0 as? FeathersError)?.data == ["limit": 10] }
        #expect { try throwsErrors(false, 101) } throws: { ($0 as? FeathersError)?.errors == ["count": "at most 100"] }
        transport.stub("messages", .find, with: .error(FeathersError(.generalError, "Oops")))
        await messages.use(hooks: Hooks(error: [unwrapErrors]))
        await #expect { try await messages.find() } throws: { FeathersError.Code.badGateway ~= $0 }
    }

    @Test("The promise and the design: an open switch, a transport around another")
    func promise() async throws {
        #expect(
            [.connected(recovered: false), .closed(.attemptsExhausted), .offline].map(explains)
                == ["online", "closed: attemptsExhausted", "not online"])
        let stub = StubTransport { request in .string(request.path) }
        #expect(
            try await FeathersApp(transport: LoggingTransport(inner: stub)).service("messages").rawFind() == "messages")
    }
}
