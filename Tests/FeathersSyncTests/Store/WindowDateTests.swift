import FeathersCore
import Testing

@testable import FeathersSync

@Suite("Dates in a window's conditions")
struct WindowDateTests {
    /// What an event of a record does to a window: whether it shows the record, and whether it fetches.
    struct Case: Sendable, CustomTestStringConvertible {
        let at: JSONValue
        let isShown: Bool
        var fetches = false

        var testDescription: String { at.description }
    }

    private func scene() throws -> (StoreTests.Scene, Window.ID) {
        var scene = StoreTests.Scene()
        let window = try scene.open(.where("at", .greaterThan("2026-11-26T10:00:00.000Z")))
        try scene.fetch(window, [["id": 1, "at": "2026-11-26T11:00:00.000Z"]])
        return (scene, window)
    }

    @Test(
        "An event follows the moment, and fetches if the date has an unknown form",
        arguments: [
            Case(at: "2026-11-26T10:00:01.000Z", isShown: true), Case(at: "2026-11-26T10:00:00.000Z", isShown: false),
            Case(at: "2026-11-26T11:00:00+02:00", isShown: false), Case(at: "2026-11-26 10:00:01", isShown: true),
            Case(at: "2026-11-26 09:00:00.999", isShown: false), Case(at: 1_795_687_201_000, isShown: true),
            Case(at: 1_795_687_199_000, isShown: false), Case(at: 1_795_687_201, isShown: true),
            Case(at: "26.11.2026", isShown: false, fetches: true), Case(at: -1, isShown: false, fetches: true),
            Case(at: nil, isShown: false),
        ])
    func created(_ example: Case) throws {
        var (scene, window) = try scene()
        scene.hear(.created, ["id": 2, "at": example.at])
        #expect(scene.shown(window).contains { $0["id"] == 2 } == example.isShown)
        #expect(scene.wants(window) == example.fetches)
    }

    @Test("A shown record whose date gets an unknown form stays until a fetch tells whether it still matches")
    func becomesUnknown() throws {
        var (scene, window) = try scene()
        let record: JSONValue = ["id": 1, "at": "Thursday"]
        scene.hear(.patched, record)
        #expect(scene.shown(window) == [record] && scene.wants(window))
        try scene.fetch(window, [])
        #expect(scene.shown(window).isEmpty && !scene.wants(window))
    }

    @Test("A queued write shows a record only if its date is known to match")
    func queued() throws {
        var (scene, window) = try scene()
        scene.queue(.create, nil, ["at": 1_795_687_201])
        #expect(scene.shown(window).count == 2)
        scene.queue(.create, nil, ["at": "Thursday"])
        #expect(scene.shown(window).count == 2)
        scene.queue(.patch, 1, ["at": "Thursday"])
        #expect(scene.shown(window).contains { $0["at"] == "Thursday" })
    }
}

/// Servers write one date in several forms: a database as SQL text, an event as JSON, an import with another zone.
@Suite("Dates in a window's order")
struct WindowDateOrderTests {
    /// Two dates in an order, and whether a fetch tells where the second one is on the server.
    struct Case: Sendable, CustomTestStringConvertible {
        let first: JSONValue
        let second: JSONValue
        var fetches = true

        var testDescription: String { "\(first) \(second)" }
    }

    static let cases = [
        Case(first: "2026-01-01T00:00:00Z", second: "2026-01-01T00:00:01Z", fetches: false),
        Case(first: "2026-01-01T00:00:00.500Z", second: "2026-01-01T00:00:00.501Z", fetches: false),
        Case(first: "2026-01-01T01:00:00+01:00", second: "2026-01-01T02:00:00+01:00", fetches: false),
        Case(first: 1_767_225_600_000, second: 1_767_225_600_001, fetches: false),
        // As text, each second one would come first.
        Case(first: "2026-01-01T00:00:00Z", second: "2026-01-01T00:00:00.500Z"),
        Case(first: "2026-01-01T01:00:00+01:00", second: "2026-01-01T00:30:00Z"),
        Case(first: "2026-01-01T03:00:00+03:00", second: "2026-01-01T02:00:00+01:00"),
        Case(first: "2026-01-01T00:00:00.000Z", second: "2025-12-31T23:00:00-02:00"),
        Case(first: "2026-01-01T00:00:00Z", second: "2026-01-01 00:00:01"),
        Case(first: "2026-01-01T00:00:00Z", second: 1_767_225_601_000),
        Case(first: 1_767_225_600_000, second: "2026-01-01T00:00:01Z"),
    ]

    private func scene(_ at: JSONValue) throws -> (StoreTests.Scene, Window.ID) {
        var scene = StoreTests.Scene()
        let window = try scene.open(.sorted(by: "at"))
        try scene.fetch(window, [["id": 1, "at": at]])
        return (scene, window)
    }

    private func ids(_ scene: inout StoreTests.Scene, _ window: Window.ID) -> [JSONValue] {
        scene.shown(window).compactMap { $0["id"] }
    }

    @Test("Events are placed by the moment, and fetch if the forms differ", arguments: cases)
    func events(example: Case) throws {
        var (scene, window) = try scene(example.first)
        scene.hear(.created, ["id": 2, "at": example.second])
        #expect(ids(&scene, window) == [1, 2] && scene.wants(window) == example.fetches)
        (scene, window) = try self.scene(example.second)
        scene.hear(.created, ["id": 2, "at": example.first])
        #expect(ids(&scene, window) == [2, 1] && scene.wants(window) == example.fetches)
        // A server that compares text has the last word.
        guard example.fetches else { return }
        try scene.fetch(window, [["id": 1, "at": example.second], ["id": 2, "at": example.first]])
        #expect(ids(&scene, window) == [1, 2])
    }

    @Test("Queued writes are placed by the moment", arguments: cases)
    func queued(example: Case) throws {
        var (scene, window) = try scene(example.first)
        scene.queue(.create, nil, ["id": 2, "at": example.second])
        #expect(ids(&scene, window) == [1, 2])
        (scene, window) = try self.scene(example.second)
        scene.queue(.create, nil, ["id": 2, "at": example.first])
        #expect(ids(&scene, window) == [2, 1])
    }

    @Test("The same moment in another form fetches, because a server may compare text")
    func sameMoment() throws {
        var (scene, window) = try scene("2026-01-01T00:00:00Z")
        try scene.fetch(window, [["id": 1, "at": "2026-01-01T00:00:00Z"], ["id": 2, "at": "2026-01-01T00:00:01Z"]])
        scene.hear(.patched, ["id": 1, "at": "2026-01-01T01:00:00+01:00"])
        #expect(ids(&scene, window) == [1, 2] && scene.wants(window))
    }
}
