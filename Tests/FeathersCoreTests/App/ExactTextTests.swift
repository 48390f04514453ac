import FeathersTesting
import Testing

@testable import FeathersCore

/// Two texts that Swift takes for equal, and a server does not.
@Suite("Text of a server is compared as it was written")
struct ExactTextTests {
    let composed = "jos\u{e9}"
    let decomposed = "jose\u{301}"

    @Test("as identities, ids and event names")
    func values() {
        #expect(composed == decomposed)
        #expect(Identity(composed) != Identity(decomposed) && Identity(composed) == Identity("jos\u{e9}"))
        #expect(Set([Identity(composed), Identity(decomposed), Identity(composed)]).count == 2)
        #expect(ServiceID(composed) != ServiceID(decomposed) && ServiceID(composed) == ServiceID("jos\u{e9}"))
        #expect(Set([ServiceID(composed), ServiceID(decomposed), 7, "7", 7]).count == 4)
        #expect(Set([EventName(rawValue: composed), EventName(rawValue: decomposed)]).count == 2)
        #expect(ServiceID(7) != ServiceID("7") && ServiceID(7) == 7)
    }

    @Test(
        "as keys of records", arguments: ["", "a", "7", "jos\u{e9}", "jose\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}"])
    func keys(text: String) {
        let others = ["", "a", "7", "jos\u{e9}", "jose\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}"]
        for other in others {
            #expect((ServiceID(text).key == ServiceID(other).key) == (Array(text.utf8) == Array(other.utf8)))
        }
        // Text in the usual form is its own key.
        #expect(ServiceID(composed).key == composed && ServiceID(7).key == "7")
    }

    @Test("as paths of services")
    func paths() async throws {
        let app = FeathersApp(transport: StubTransport { request in [["path": .string(request.path)]] })
        for path in [composed, decomposed] {
            let found = try await app.service(path).find()
            #expect(found.first?["path"] == .string(path))
        }
        #expect(app.service(composed).registered !== app.service(decomposed).registered)
        try await app.use(MemoryService(), at: composed)
        #expect(app.isPathTaken(composed) && !app.isPathTaken(decomposed))
    }

    @Test("as the ids of records that are read together")
    func ids() async throws {
        let records: [JSONValue] = [
            ["id": .string(composed), "n": 1], ["id": .string(decomposed), "n": 2],
        ]
        let app = FeathersApp(transport: StubTransport { _ in .array(records) })
        let found = try await app.service("users").find(ids: [composed, decomposed])
        #expect(found.map { $0["n"] } == [1, 2])
    }

    @Test("as users: one's sign-in is not the other's")
    func users() async throws {
        let app = FeathersApp()
        app.setIdentity(Identity(composed))
        var updates = app.identityUpdates().makeAsyncIterator()
        #expect(await updates.next()??.name.utf8.count == 5)
        app.setIdentity(Identity(decomposed))
        #expect(await updates.next()??.name.utf8.count == 6)
    }
}
