import Feathers
import FeathersTesting
import Foundation
import Testing

@Suite("A response to a draft that is no record", .timeLimit(.minutes(5)))
struct DraftResponseTests {
    struct Loose: Codable, Sendable, Equatable {
        var id: Int?
        var text: String?
        var login: String?
    }

    private func scene(_ patched: JSONValue) -> (app: FeathersApp, transport: StubTransport) {
        let transport = StubTransport { _ in nil }
        transport.stub("notes", .get, with: .value(["id": 7, "text": "one"]))
        transport.stub("notes", .patch, with: .value(patched))
        return (FeathersApp(transport: transport), transport)
    }

    @Test("may mean that the patch was executed, and the copy keeps the changes")
    func save() async throws {
        let (app, transport) = scene(["login": "now"])
        var draft = try await app.service("notes", of: Loose.self).draft(7)
        draft.text = "two"
        let error = await #expect(throws: FeathersError.self) { try await draft.save() }
        #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
        #expect(draft.text == "two" && draft.hasChanges)
        transport.stub("notes", .get, with: .value(["login": "now"]))
        #expect(await #expect(throws: FeathersError.self) { try await draft.save() }?.code == .unavailable)
        #expect(draft.text == "two" && draft.value.login == nil)
    }

    @Test(
        "is taken from a service that is declared to respond so: the record is read again",
        arguments: [7, "ok", []] as [JSONValue])
    func declared(response: JSONValue) async throws {
        let (app, transport) = scene(response)
        app.servicesWithOtherResponses = ["notes"]
        var draft = try await app.service("notes", of: Loose.self).draft(7)
        draft.text = "two"
        transport.stub(
            "notes", .get, with: .cycle([.value(["id": 7, "text": "one"]), .value(["id": 7, "text": "two"])]))
        try await draft.save()
        #expect(draft.text == "two" && !draft.hasChanges)
        #expect(transport.requests.map(\.method) == [.get, .get, .patch, .get])
    }

    @Test("with some properties of the record leaves the others as they are")
    func partial() async throws {
        let (app, transport) = scene(["id": 7, "text": "TWO"])
        transport.stub("notes", .get, with: .value(["id": 7, "text": "one", "login": "ada"]))
        var draft = try await app.service("notes", of: Loose.self).draft(7)
        draft.text = "two"
        try await draft.save()
        #expect(draft.value == Loose(id: 7, text: "TWO", login: "ada") && draft.base == draft.value)
        draft.login = nil
        try await draft.save()
        #expect(draft.value == Loose(id: 7, text: "TWO", login: nil) && !draft.hasChanges)
    }

    @Test("to the first read throws")
    func begin() async throws {
        let (app, transport) = scene(nil)
        transport.stub("notes", .get, with: .value(["login": "now"]))
        let error = await #expect(throws: FeathersError.self) {
            _ = try await app.service("notes", of: Loose.self).draft(7)
        }
        #expect(error?.code == .unavailable)
    }
}
