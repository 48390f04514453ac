import Feathers
import Foundation
import Testing

/// What every transport must do alike: the methods.
@Suite("Conformance: methods")
struct MethodConformanceTests {
    /// Tells one test's records from those of others on the same server.
    private let room = JSONValue.string("conformance-\(UUID().uuidString)")

    @Test("A record is created, read, replaced, patched and removed", arguments: Subject.all)
    func lifeOfARecord(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let created = try await messages.create([
            "text": "Hi", "room": room, "n": 1.5, "none": nil, "tags": ["a", "b"], "deep": ["x": true],
        ])
        let id = try #require(created["id"].flatMap { ServiceID($0) })
        var expected: JSONValue = ["text": "Hi", "room": room, "n": 1.5, "none": nil, "tags": ["a", "b"], "deep": ["x": true]]
        expected["id"] = id.json
        #expect(created == expected)
        #expect(try await messages.get(id) == expected)
        #expect(try await messages.update(id, with: ["text": "new", "room": room]) == ["text": "new", "room": room, "id": id.json])
        #expect(try await messages.patch(id, with: ["n": 2]) == ["text": "new", "room": room, "n": 2, "id": id.json])
        #expect(try await messages.remove(id)["n"] == 2)
        await #expect { try await messages.get(id) } throws: { FeathersError.Code.notFound ~= $0 }
    }

    @Test("Several records are created, patched and removed at once", arguments: Subject.all)
    func multi(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let created = try await messages.create(contentsOf: ["a", "b", "c"].map { ["text": $0, "room": room] })
        #expect(created.array?.map { $0["text"] } == ["a", "b", "c"])
        let ofRoom = Query.where("room", room)
        let patched = try await messages.patchAll(matching: ofRoom.where("text", .isIn(["a", "b"])), with: ["seen": 1])
        #expect(patched.array?.map { $0["seen"] } == [1, 1])
        #expect(try await messages.patchAll(matching: ofRoom.where("text", "none"), with: ["seen": 2]) == [])
        #expect(try await messages.removeAll(matching: ofRoom).array?.count == 3)
        #expect(try await messages.create(contentsOf: []) == [])
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: ServiceRequest
        let code: FeathersError.Code
        let message: String
    }

    static let refusals: [Refusal] = [
        Refusal(
            testDescription: "get of a missing record", request: ServiceRequest(path: "messages", method: .get, id: 999_999),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "update of a missing record",
            request: ServiceRequest(path: "messages", method: .update, id: 999_999, data: [:]),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "patch of a missing record", request: ServiceRequest(path: "messages", method: .patch, id: 999_999, data: [:]),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "remove of a missing record", request: ServiceRequest(path: "messages", method: .remove, id: 999_999),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "update of several", request: ServiceRequest(path: "messages", method: .update, data: ["text": "x"]),
            code: .badRequest, message: "You can not replace multiple instances. Did you mean 'patch'?"),
        Refusal(
            testDescription: "patch of several where that is not allowed",
            request: ServiceRequest(path: "single", method: .patch, data: ["a": 1]),
            code: .methodNotAllowed, message: "Can not patch multiple entries"),
        Refusal(
            testDescription: "remove of several where that is not allowed", request: ServiceRequest(path: "single", method: .remove),
            code: .methodNotAllowed, message: "Can not remove multiple entries"),
        Refusal(
            testDescription: "an unknown operator",
            request: ServiceRequest(path: "messages", method: .find, params: Params(query: Query(["text": ["$regex": "x"]]))),
            code: .badRequest, message: "Invalid query parameter $regex"),
        Refusal(
            testDescription: "an unknown filter",
            request: ServiceRequest(path: "messages", method: .find, params: Params(query: Query(["$populate": "user"]))),
            code: .badRequest, message: "Invalid filter value $populate"),
    ]

    @Test("What a service refuses, it refuses in FeathersJS' words", arguments: Subject.all, refusals)
    func refused(_ subject: Subject, _ refusal: Refusal) async throws {
        let app = try await subject.app()
        let request = refusal.request
        await #expect {
            try await app.service(request.path).respond(to: request)
        } throws: { error in
            guard let error = error as? FeathersError else { return false }
            return error.code == refusal.code && error.message == refusal.message && error.name == refusal.code.name
                && error.className == refusal.code.className && error.execution == .answered
        }
    }

    @Test("Every error class arrives with its data and errors", arguments: Subject.all, FeathersError.Code.classes.map(\.name))
    func errorClasses(_ subject: Subject, _ name: String) async throws {
        let errors = try await subject.app().service("errors")
        await #expect {
            try await errors.get(name)
        } throws: { error in
            guard let error = error as? FeathersError else { return false }
            return error.name == name && error.code.name == name && error.message == "\(name) message"
                && error.data == ["resource": "thing", "nested": ["n": 1, "list": [1, "two", nil]]]
                && error.errors == ["email": "Email is taken", "count": ["min": 1]]
        }
    }

    @Test("Custom methods run", arguments: Subject.all)
    func customMethods(_ subject: Subject) async throws {
        let app = try await subject.app()
        let messages = app.service("messages")
        let id = try #require(try await messages.create(["text": "old", "room": room])["id"])
        #expect(try await messages.call("archive", with: ["id": id])["archived"]?["archived"] == true)
        let shout = try await app.service("echo").call("shout", with: ["a": 1], Query(["loud": "yes"]))
        #expect(shout["method"] == "shout")
        #expect(shout["data"] == ["a": 1])
        #expect(shout["query"] == ["loud": "yes"])
        let expected: FeathersError.Code = subject.refusesUnknownMethods ? .methodNotAllowed : .timeout
        // Only where no answer will come is it worth waiting for none.
        let timeout = Duration.seconds(subject.refusesUnknownMethods ? 60 : 2)
        await #expect {
            try await app.service("echo").call("whisper", with: [:], params: Params(timeout: timeout))
        } throws: {
            expected ~= $0
        }
    }

    @Test("A null result is null", arguments: Subject.all)
    func nullResult(_ subject: Subject) async throws {
        #expect(try await subject.app().service("httpmeta").get("null") == .null)
    }

    @Test("Placeholders of a path are filled from the route", arguments: Subject.all)
    func route(_ subject: Subject) async throws {
        let members = try await subject.app().service("teams/:teamId/members")
        #expect(try await members.find(params: Params(route: ["teamId": "red"]))["route"] == ["teamId": "red"])
    }

    @Test("Any text survives the way there and back", arguments: Subject.all)
    func text(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let text: JSONValue = "Zürich 😀 日本語 \u{2028}\u{2029} \"quotes\" \\ / <tag> \u{0}\u{1f} e\u{301} שלום"
        let created = try await messages.create(["text": text, "room": room])
        #expect(created["text"] == text)
        #expect(try await messages.find(.where("text", text).where("room", room))["total"] == 1)
    }
}
