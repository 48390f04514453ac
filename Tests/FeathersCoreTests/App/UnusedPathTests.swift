import FeathersTesting
import Testing

@testable import FeathersCore

@Suite("A path that is neither registered nor in use")
struct UnusedPathTests {
    private func app() -> FeathersApp { FeathersApp(transport: StubTransport { _ in [] }) }

    @Test("leaves no trace, whether it was looked up or called")
    func bounded() async throws {
        let app = app()
        for number in 0..<60_000 { _ = app.service("notes/\(number)/comments") }
        #expect(app.serviceRegistry.services.count <= 256)
        for number in 0..<2_000 { _ = try await app.service("called/\(number)").find() }
        #expect(app.serviceRegistry.services.count <= 256)
    }

    @Test("stays while someone holds it, subscribes to it or has given it hooks")
    func used() async throws {
        let app = app()
        let held = app.service("held")
        let events = app.service("subscribed").events(.created)
        await app.service("hooked").use(hooks: Hooks(before: ["find": [{ $0.result = ["hooked"] }]]))
        let subscribed = ObjectIdentifier(app.service("subscribed").registered)
        try await app.use(MemoryService(), at: "registered")
        for number in 0..<10_000 { _ = app.service("notes/\(number)") }
        #expect(app.service("held").registered === held.registered)
        #expect(ObjectIdentifier(app.service("subscribed").registered) == subscribed)
        #expect(try await app.service("hooked").find().data == ["hooked"])
        #expect(app.servicePaths == ["registered"])
        app.service("subscribed").emit(.created, ["id": 1])
        #expect(try await events.first() == ["id": 1])
    }

    @Test("is dropped once its last subscriber has left")
    func ended() async throws {
        let app = app()
        var streams = (0..<1_000).map { app.service("notes/\($0)").events(.created) }
        #expect(app.serviceRegistry.services.count == 1_000)
        streams.removeAll()
        for number in 0..<3_000 { _ = app.service("others/\(number)") }
        #expect(app.serviceRegistry.services.count <= 2_000)
        for number in 0..<3_000 { _ = app.service("more/\(number)") }
        #expect(app.serviceRegistry.services.count <= 512)
    }
}
