import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("The user of a draft", .timeLimit(.minutes(10)))
struct DraftUserTests {
    private let transport = StubTransport { request in
        ["id": 7, "text": request.data?["text"] ?? "one"]
    }

    private func app() throws -> FeathersApp {
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions())
        transport.stub(
            "authentication",
            with: ServiceStub { request in
                let email = request.data?["email"]?.string ?? "nobody"
                return ["accessToken": .string("token-of-\(email)"), "user": ["id": .string(email)]]
            })
        return app
    }

    private static func refuses(_ error: any Error) -> Bool {
        guard let error = error as? FeathersError else { return false }
        return error.code == .notAuthenticated && error.execution == .neverSent
    }

    private func tokens(of method: ServiceMethod) -> [String?] {
        transport.calls(of: "notes", method).map { $0.request.params.headers["Authorization"] }
    }

    @Test("can save it, also after signing in again; another user cannot, nor anyone signed out")
    func changed() async throws {
        let app = try app()
        let notes = app.service("notes", of: Note.self)
        try await app.authenticate(.local(email: "ada", password: "x"))
        var draft = try await notes.draft(7)
        draft.text = "of ada"
        try await app.logOut()
        await #expect { try await draft.save() } throws: { Self.refuses($0) }
        try await app.authenticate(.local(email: "bob", password: "x"))
        await #expect { try await draft.save() } throws: { Self.refuses($0) }
        await #expect { try await draft.queue() } throws: { Self.refuses($0) }
        #expect(transport.calls(of: "notes", nil).count == 1 && draft.text == "of ada")
        try await app.authenticate(.local(email: "ada", password: "x"))
        try await draft.save()
        #expect(tokens(of: .patch) == ["Bearer token-of-ada"])
    }

    @Test("is the one whom the first read signs in with a stored token")
    func restored() async throws {
        let storage = InMemoryTokenStorage()
        let first = FeathersApp(transport: transport)
        try first.use(authentication: AuthenticationOptions(storage: storage))
        transport.stub("authentication", with: .value(["accessToken": "stored", "user": ["id": "ada"]]))
        try await first.authenticate(.local(email: "ada", password: "x"))
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: storage))
        var draft = try await app.service("notes", of: Note.self).draft(7)
        draft.text = "two"
        try await draft.save()
        #expect(tokens(of: .patch) == ["Bearer stored"])
    }

    @Test("is another than the app's if the draft has a token, which all its calls carry")
    func token() async throws {
        let app = try app()
        let notes = app.service("notes", of: Note.self)
        var drafts = [try await notes.draft(7, params: Params(token: "carol"))]
        drafts.append(try await app.withToken("carol") { try await notes.draft(7) })
        try await app.authenticate(.local(email: "ada", password: "x"))
        for index in drafts.indices {
            drafts[index].text = "mine"
            try await drafts[index].save()
            drafts[index].text = "later"
            await #expect { try await drafts[index].queue() } throws: { FeathersError.Code.badRequest ~= $0 }
        }
        #expect(tokens(of: .get) == Array(repeating: "Bearer carol", count: 4))
        #expect(tokens(of: .patch) == Array(repeating: "Bearer carol", count: 2))
    }

    @Test("stays the app's within the scope of another token")
    func scope() async throws {
        let app = try app()
        try await app.authenticate(.local(email: "ada", password: "x"))
        var draft = try await app.service("notes", of: Note.self).draft(7)
        draft.text = "mine"
        draft = try await app.withToken("carol") { [draft] in
            var draft = draft
            try await draft.save()
            return draft
        }
        #expect(!draft.hasChanges && tokens(of: .patch) == ["Bearer token-of-ada"])
    }

    @Test("does not change on the way: a patch during which another user signs in is not sent")
    func replaced() async throws {
        let app = try app()
        try await app.authenticate(.local(email: "ada", password: "x"))
        let notes = app.service("notes", of: Note.self)
        var draft = try await notes.draft(7)
        draft.text = "of ada"
        let replaces: Hook = { context in
            try await context.app.authenticate(.local(email: "bob", password: "x"))
        }
        await notes.use(hooks: Hooks(before: [.patch: [replaces]]))
        await #expect { try await draft.save() } throws: { Self.refuses($0) }
        #expect(transport.calls(of: "notes", .patch).isEmpty)
    }

    @Test("who leaves while the draft is being read does not get it, and one who leaves before the patch sends none")
    func leaving() async throws {
        let app = FeathersApp(transport: transport)
        app.setIdentity(Identity("ada"))
        let notes = app.service("notes", of: Note.self)
        var draft = try await notes.draft(7)
        draft.text = "of ada"
        let stored = ServiceStub { request in
            app.setIdentity(Identity("bob"))
            return ["id": 7, "text": "one"]
        }
        transport.stub("notes", .get, with: stored)
        await #expect { try await draft.save() } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        #expect(transport.calls(of: "notes", .patch).isEmpty)
    }
}
