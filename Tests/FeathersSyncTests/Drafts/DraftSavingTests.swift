import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("Saving a draft", .timeLimit(.minutes(10)))
struct DraftSavingTests {
    private func draft(on server: DraftServer) async throws -> Draft<Note> {
        try await server.app().service("notes", of: Note.self).draft(7)
    }

    @Test("sends only what has changed, and takes what the server returns", arguments: DraftServer.Tags.allCases)
    func changed(_ tags: DraftServer.Tags) async throws {
        let server = DraftServer(tags)
        var draft = try await draft(on: server)
        try await draft.save()
        #expect(server.methods == ["GET"])
        draft.text = "mine"
        draft.title = nil
        try await draft.save()
        #expect(try server.sent() == [["text": "mine", "title": nil]])
        // A tag that can be a condition makes reading unnecessary.
        #expect(server.methods == (tags == .strong ? ["GET", "PATCH"] : ["GET", "GET", "PATCH"]))
        #expect(server.patches.map { $0.headers["If-Match"] } == [tags == .strong ? "\"1\"" : nil])
        #expect(draft.value == draft.base && draft.text == "mine" && !draft.hasChanges)
        #expect(server.record["owner"] == "ada")
        draft.text = "again"
        try await draft.save()
        #expect(server.patches.last?.headers["If-Match"] == (tags == .strong ? "\"2\"" : nil))
    }

    @Test("leaves what others have changed meanwhile", arguments: DraftServer.Tags.allCases)
    func merged(_ tags: DraftServer.Tags) async throws {
        let server = DraftServer(tags)
        var draft = try await draft(on: server)
        draft.text = "mine"
        server.change(["title": "theirs", "owner": "bob"])
        try await draft.save()
        #expect(server.record == ["id": 7, "text": "mine", "title": "theirs", "owner": "bob"])
        #expect(draft.title == "theirs" && !draft.hasChanges)
        #expect(try server.sent().allSatisfy { $0 == ["text": "mine"] })
    }

    @Test("names the properties that conflict, and overwrites nothing", arguments: DraftServer.Tags.allCases)
    func conflict(_ tags: DraftServer.Tags) async throws {
        let server = DraftServer(tags)
        var draft = try await draft(on: server)
        (draft.text, draft.title) = ("mine", "mine too")
        server.change(["text": "theirs", "title": "theirs too"])
        let isConflict: (any Error) -> Bool = { error in
            let error = error as? FeathersError
            return error?.code == .conflict && error?.execution == .neverSent
                && error?.message.contains("'text', 'title'") == true
        }
        await #expect { try await draft.save() } throws: { isConflict($0) }
        #expect(draft.text == "mine" && draft.base.text == "theirs")
        #expect(draft.conflicts.map(\.property) == ["text", "title"])
        // Nothing is sent while they conflict.
        let count = server.requests.count
        await #expect { try await draft.save() } throws: { isConflict($0) }
        await #expect { _ = try await draft.queue() } throws: { isConflict($0) }
        #expect(server.requests.count == count && server.record["text"] == "theirs")
        try draft.resolve("text", with: .mine)
        try draft.resolve("title", with: .theirs)
        try await draft.save()
        #expect(server.record["text"] == "mine" && server.record["title"] == "theirs too")
    }

    @Test("tries again if others write between the read and the patch, three times at most")
    func races() async throws {
        let server = DraftServer(.strong)
        var draft = try await draft(on: server)
        draft.text = "mine"
        server.race(["title": "a"], ["title": "b"])
        try await draft.save()
        #expect(server.patches.map { $0.headers["If-Match"] } == ["\"1\"", "\"2\"", "\"3\""])
        #expect(server.record["text"] == "mine" && server.record["title"] == "b")

        draft.text = "again"
        server.race(["title": "c"], ["title": "d"], ["title": "e"], ["title": "f"])
        await #expect { try await draft.save() } throws: { FeathersError.Code(412) ~= $0 }
        #expect(server.patches.count == 6 && draft.text == "again" && draft.title == "e")
        #expect(server.record["text"] == "mine")
    }

    @Test("tries again if others have changed only what the model lacks, and reads first what it was told of")
    func tags() async throws {
        let server = DraftServer(.strong)
        var draft = try await draft(on: server)
        draft.text = "mine"
        server.change(["owner": "bob"])
        try await draft.save()
        #expect(server.methods == ["GET", "PATCH", "GET", "PATCH"] && server.record["text"] == "mine")

        server.change(["title": "theirs"])
        try draft.update(to: Note(id: 7, text: "mine", title: "theirs"))
        draft.text = "again"
        try await draft.save()
        #expect(server.methods.suffix(2) == ["GET", "PATCH"] && server.patches.count == 3)
    }

    @Test("passes on a refusal that has another reason than a changed record")
    func refusals() async throws {
        let server = DraftServer()
        var draft = try await draft(on: server)
        draft.text = "mine"
        server.refuse(FeathersError(.conflict, "The text is taken"))
        await #expect { try await draft.save() } throws: { ($0 as? FeathersError)?.message == "The text is taken" }
        #expect(server.patches.count == 1 && draft.text == "mine")
        server.refuse(FeathersError(.forbidden, "Not yours"))
        await #expect { try await draft.save() } throws: { FeathersError.Code.forbidden ~= $0 }
        try await draft.save()
        #expect(server.record["text"] == "mine")
    }

    @Test("sends nothing if others have made the same changes, or its own patch arrived although no response did")
    func sameChanges() async throws {
        let server = DraftServer()
        var draft = try await draft(on: server)
        draft.text = "same"
        server.change(["text": "same"])
        try await draft.save()
        #expect(server.patches.isEmpty && !draft.hasChanges)
    }

    @Test("reads the record if the response to the patch has none")
    func noContent() async throws {
        let server = DraftServer(.strong)
        var draft = try await draft(on: server)
        server.returnNothing()
        draft.text = "mine"
        server.race()
        try await draft.save()
        #expect(server.methods == ["GET", "PATCH", "GET"] && !draft.hasChanges && draft.base.text == "mine")
        draft.text = "again"
        try await draft.save()
        #expect(server.patches.last?.headers["If-Match"] == "\"2\"")
    }

    @Test("of a record from a list reads it first")
    func ofRecord() async throws {
        let server = DraftServer(.strong)
        let notes = try server.app().service("notes", of: Note.self)
        var draft = try await notes.draft(Note(id: 7, text: "one", title: "older"))
        #expect(server.requests.isEmpty)
        draft.text = "mine"
        try await draft.save()
        #expect(server.methods == ["GET", "PATCH"] && draft.title == "first")
        #expect(server.patches.map { $0.headers["If-Match"] } == ["\"1\""])
    }

    @Test("uses the draft's route, header fields and query, the service's id property and codec")
    func params() async throws {
        struct Task: Codable, Sendable {
            var name: String
            var due: Date
        }
        let transport = StubTransport { request in
            ["_id": "x", "name": request.data?["name"] ?? "one", "due": request.data?["due"] ?? 0]
        }
        let app = FeathersApp(transport: transport)
        let tasks = app.service("teams/:team/tasks").identified(by: "_id").of(
            Task.self, coding: CodingOptions(dates: .millisecondsSince1970))
        let params = Params(query: ["tenant": 1], headers: ["X-Team": "a"], route: ["team": "t"])
        var draft = try await tasks.draft("x", params: params)
        draft.due = Date(timeIntervalSince1970: 1)
        try await draft.save()
        let requests = transport.calls.map(\.request)
        #expect(requests.map(\.method) == [.get, .get, .patch])
        for request in requests {
            #expect(request.params.route == ["team": "t"] && request.params.headers["X-Team"] == "a")
            #expect(request.params.query.json["tenant"] == 1 && request.id == "x")
        }
        #expect(requests.last?.data == ["due": 1000])
    }
}
