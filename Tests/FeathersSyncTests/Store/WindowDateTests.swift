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
