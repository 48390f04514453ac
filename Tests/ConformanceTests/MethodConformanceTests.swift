import Feathers
import Foundation
import TestBackend
import Testing

/// What every transport must do alike: the methods.
@Suite("Conformance: methods", .inTurn)
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
        var expected: JSONValue = [
            "text": "Hi", "room": room, "n": 1.5, "none": nil, "tags": ["a", "b"], "deep": ["x": true],
        ]
        expected["id"] = id.json
        #expect(created == expected)
        #expect(try await messages.get(id) == expected)
        let replaced: JSONValue = ["text": "new", "room": room, "id": id.json]
        if subject.can(.update) {
            #expect(try await messages.update(id, with: ["text": "new", "room": room]) == replaced)
            expected = replaced
        } else {
            await subject.expectRefusal(of: .update) {
                try await messages.update(id, with: ["text": "new", "room": room])
            }
        }
        expected["n"] = 2
        #expect(try await messages.patch(id, with: ["n": 2]) == expected)
        let removed = try #require(await messages.remove(id))
        #expect(subject.can(.removedRecords) ? removed["n"] == 2 : removed == ["id": id.json])
        await #expect { try await messages.get(id) } throws: { FeathersError.Code.notFound ~= $0 }
    }

    @Test("Several records are created, patched and removed at once", arguments: Subject.all)
    func multi(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let created = try await messages.create(contentsOf: ["a", "b", "c"].map { ["text": $0, "room": room] })
        #expect(created.map { $0["text"] } == ["a", "b", "c"])
        let ofRoom = Query.where("room", room)
        var (some, none, all) = (ofRoom.where("text", .isIn(["a", "b"])), ofRoom.where("text", "none"), ofRoom)
        if !subject.can(.changesByCondition) {
            await subject.expectRefusal(of: .changesByCondition) { [some] in
                try await messages.patchAll(query: some, with: ["seen": 1])
            }
            await subject.expectRefusal(of: .changesByCondition) { try await messages.removeAll(query: ofRoom) }
            let ids = created.compactMap { $0["id"] }
            (some, none, all) = (
                .where("id", .isIn(ids.prefix(2))), .where("id", .isIn([JSONValue]())), .where("id", .isIn(ids))
            )
        }
        let patched = try await messages.patchAll(query: some, with: ["seen": 1])
        #expect(patched.map { $0["seen"] } == [1, 1])
        #expect(patched.map { $0["text"] } == ["a", "b"])
        #expect(try await messages.patchAll(query: none, with: ["seen": 2]) == [])
        #expect(try await messages.removeAll(query: all).count == 3)
        #expect(try await messages.find(ofRoom).total == 0)
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
            testDescription: "get of a missing record",
            request: ServiceRequest(path: "messages", method: .get, id: 999_999),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "update of a missing record",
            request: ServiceRequest(path: "messages", method: .update, id: 999_999, data: [:]),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "patch of a missing record",
            request: ServiceRequest(path: "messages", method: .patch, id: 999_999, data: [:]),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "remove of a missing record",
            request: ServiceRequest(path: "messages", method: .remove, id: 999_999),
            code: .notFound, message: "No record found for id '999999'"),
        Refusal(
            testDescription: "update of several",
            request: ServiceRequest(path: "messages", method: .update, data: ["text": "x"]),
            code: .badRequest, message: "You can not replace multiple instances. Did you mean 'patch'?"),
        Refusal(
            testDescription: "patch of several where that is not allowed",
            request: ServiceRequest(path: "single", method: .patch, data: ["a": 1]),
            code: .methodNotAllowed, message: "Can not patch multiple entries"),
        Refusal(
            testDescription: "remove of several where that is not allowed",
            request: ServiceRequest(path: "single", method: .remove),
            code: .methodNotAllowed, message: "Can not remove multiple entries"),
        Refusal(
            testDescription: "an unknown operator",
            request: ServiceRequest(
                path: "messages", method: .find, params: Params(query: Query(["text": ["$regex": "x"]]))),
            code: .badRequest, message: "Invalid query parameter $regex"),
        Refusal(
            testDescription: "an unknown filter",
            request: ServiceRequest(
                path: "messages", method: .find, params: Params(query: Query(["$populate": "user"]))),
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
            let expected =
                subject.refusals[refusal.testDescription]
                ?? OtherRefusal(code: refusal.code, message: refusal.message, execution: .answered)
            return error.code == expected.code && error.message == expected.message && error.name == expected.code.name
                && error.className == expected.code.className && error.execution == expected.execution
        }
    }

    @Test(
        "Every error class arrives with its data and errors", arguments: Subject.all,
        FeathersError.Code.classes.map(\.name))
    func errorClasses(_ subject: Subject, _ name: String) async throws {
        let errors = try await subject.app().service("errors")
        await #expect {
            try await errors.get(name)
        } throws: { error in
            guard let error = error as? FeathersError else { return false }
            let details = subject.can(.feathersErrors) ? (error.data, error.errors) : error.detailsInMeta
            return error.name == name && error.code.name == name && error.message == "\(name) message"
                && details.0 == ["resource": "thing", "nested": ["n": 1, "list": [1, "two", nil]]]
                && details.1 == ["email": "Email is taken", "count": ["min": 1]]
        }
    }

    @Test("Custom methods run", arguments: Subject.all)
    func customMethods(_ subject: Subject) async throws {
        let app = try await subject.app()
        let messages = app.service("messages")
        guard subject.can(.customMethods) else {
            await subject.expectRefusal(of: .customMethods) { try await messages.call("archive", with: ["id": 1]) }
            return
        }
        let id = try #require(try await messages.create(["text": "old", "room": room])["id"])
        #expect(try await messages.call("archive", with: ["id": id])["archived"]?["archived"] == true)
        let shout = try await app.service("echo").call("shout", with: ["a": 1], query: Query(["loud": "yes"]))
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
        let meta = try await subject.app().service("httpmeta")
        guard subject.can(.bareResults) else {
            await #expect { try await meta.get("null") } throws: { FeathersError.Code.notFound ~= $0 }
            return
        }
        #expect(try await meta.get("null") == .null)
    }

    @Test("Placeholders of a path are filled from the route", arguments: Subject.all)
    func route(_ subject: Subject) async throws {
        let members = try await subject.app().service("teams/:teamId/members")
        let found = try await members.rawFind(params: Params(route: ["teamId": "red"]))
        #expect((subject.can(.bareResults) ? found : found["data"]?[0])?["route"] == ["teamId": "red"])
    }

    @Test(
        "Values of a route reach the server as they are, and in a URL percent-encoded no more than it requires",
        arguments: Subject.all, ["a@b.c", "p+q:r", "Zürich", "two words", "C#", "what?", "50%", "e\u{301}"])
    func routeValues(_ subject: Subject, value: String) async throws {
        let members = try await subject.app().service("teams/:teamId/members")
        let found = try await members.rawFind(params: Params(route: ["teamId": value]))
        let received = (subject.can(.bareResults) ? found : found["data"]?[0])?["route"]?["teamId"]?.string
        // FeathersJS does not decode the paths of URLs.
        #expect(received == value || subject.paths == .url && received?.removingPercentEncoding == value)
        let isURLSegment = value.utf8.allSatisfy { $0 < 0x80 } && !value.contains { " #?%".contains($0) }
        if isURLSegment { #expect(received == value) }
    }

    @Test(
        "Values of a route that would lead to another path are refused before they are sent",
        arguments: Subject.all.filter { $0.paths != .none },
        ["", ".", "..", "a/b", "/", "a\\b", "%2F", "..%2fx", "%2e%2E", "%5C", "a\nb", "\u{0}", "%00", "\u{7F}"])
    func refusedRouteValues(_ subject: Subject, value: String) async throws {
        let members = try await subject.app().service("teams/:teamId/members")
        await #expect {
            try await members.rawFind(params: Params(route: ["teamId": value]))
        } throws: { error in
            let error = error as? FeathersError
            return error?.code == .badRequest && error?.execution == .neverSent
                && error?.message.contains(":teamId") == true
        }
    }

    @Test("Any text survives the way there and back", arguments: Subject.all)
    func text(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let text: JSONValue = "Zürich 😀 日本語 \u{2028}\u{2029} \"quotes\" \\ / <tag> \u{0}\u{1f} e\u{301} שלום"
        let created = try await messages.create(["text": text, "room": room])
        #expect(created["text"] == text)
        #expect(try await messages.find(.where("text", text).where("room", room)).total == 1)
    }
}
