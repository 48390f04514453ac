import FeathersCore
import Testing

@testable import FeathersSync

@Suite("The store of records with a version that only grows")
struct StoreVersionTests {
    typealias Scene = StoreTests.Scene

    static func note(_ id: Int64, _ text: String, _ version: Int64) -> JSONValue {
        ["id": .integer(id), "text": .string(text), "v": .integer(version)]
    }

    /// A scene with a window that shows one note, "b" of version 2.
    private func scene(_ query: Query<JSONValue> = Query()) throws -> (Scene, Window.ID) {
        var scene = Scene(version: "v")
        let window = try scene.open(query)
        try scene.fetch(window, [Self.note(1, "b", 2)])
        return (scene, window)
    }

    @Test("An event that is older than what is known is not taken, and needs no fetch", arguments: EventName.standard)
    func olderEvent(_ name: EventName) throws {
        var (scene, window) = try scene()
        scene.hear(name, Self.note(1, "a", 1))
        #expect(scene.texts(window) == ["b"] && !scene.wants(window))
        scene.hear(.patched, Self.note(1, "c", 3))
        scene.hear(name, Self.note(1, "b", 2))
        #expect(scene.texts(window) == ["c"] && !scene.wants(window))
    }

    @Test("An old event does not bring back a record that no longer matches or was removed")
    func gone() throws {
        var (scene, window) = try scene(.where("text", ["$in": ["a", "b"]]))
        scene.hear(.patched, Self.note(1, "c", 3))
        scene.hear(.patched, Self.note(1, "b", 2))
        #expect(scene.texts(window).isEmpty && !scene.wants(window))
        scene.hear(.created, Self.note(2, "a", 4))
        scene.hear(.removed, Self.note(2, "a", 4))
        scene.hear(.patched, Self.note(2, "b", 3))
        #expect(scene.texts(window).isEmpty && !scene.wants(window))
        // The same version again: it may have come back, or its event has.
        scene.hear(.created, Self.note(2, "a", 4))
        #expect(scene.texts(window).isEmpty && scene.wants(window))
        try scene.fetch(window, [Self.note(2, "a", 4)])
        #expect(scene.texts(window) == ["a"] && !scene.wants(window))
    }

    @Test("The removal of an earlier record with the same id is not taken")
    func reusedID() throws {
        var (scene, window) = try scene()
        scene.hear(.created, Self.note(1, "new", 5))
        scene.hear(.removed, Self.note(1, "b", 2))
        #expect(scene.texts(window) == ["new"] && !scene.wants(window))
    }

    @Test("A newer event ends a hold without a fetch; of equal versions, a fetch decides")
    func hold() throws {
        for (event, isTaken) in [(Self.note(1, "d", 4), true), (Self.note(1, "x", 3), false)] {
            var (scene, window) = try scene()
            let write = scene.queue(.patch, 1, ["text": "c"])
            scene.send(write)
            scene.respond(to: write, Self.note(1, "c", 3))
            scene.hear(.patched, Self.note(1, "b", 2))
            #expect(scene.texts(window) == ["c"] && !scene.wants(window))
            scene.hear(.patched, event)
            #expect(scene.texts(window) == [isTaken ? "d" : "c"] && scene.wants(window) == !isTaken)
            #expect(scene.store.awaitsConfirmation(window) == !isTaken)
            scene.hear(.patched, Self.note(1, "c", 3))
            #expect(scene.texts(window) == [isTaken ? "d" : "c"])
        }
    }

    @Test("A response that is older than what is known is not taken")
    func olderResponse() throws {
        var (scene, window) = try scene()
        let write = scene.queue(.patch, 1, ["text": "c"])
        scene.send(write)
        scene.hear(.patched, Self.note(1, "d", 4))
        scene.respond(to: write, Self.note(1, "c", 3))
        #expect(scene.texts(window) == ["d"] && scene.states(window) == [.confirmed])
        #expect(!scene.wants(window) && !scene.store.awaitsConfirmation(window))
    }

    @Test("A page that is older or newer than the events since it was sent needs no other fetch")
    func pages() throws {
        var (scene, window) = try scene(.sorted(by: "id"))
        let old = try scene.ask(window)
        scene.hear(.patched, Self.note(1, "c", 3))
        try scene.answer(window, old, [Self.note(1, "b", 2), Self.note(2, "x", 2)])
        #expect(scene.texts(window) == ["c", "x"] && !scene.wants(window))
        let new = try scene.ask(window)
        scene.hear(.patched, Self.note(1, "d", 4))
        try scene.answer(window, new, [Self.note(1, "e", 5), Self.note(2, "x", 2)])
        #expect(scene.texts(window) == ["e", "x"] && !scene.wants(window))
        scene.hear(.patched, Self.note(1, "d", 4))
        #expect(scene.texts(window) == ["e", "x"] && !scene.wants(window))
    }

    @Test("A page that is older moves, drops and leaves out records as what is known says")
    func olderPage() throws {
        var (scene, window) = try scene(.where("text", ["$ne": "gone"]).sorted(by: "text"))
        let time = try scene.ask(window)
        scene.hear(.created, Self.note(2, "x", 3))
        scene.hear(.patched, Self.note(2, "a", 4))
        scene.hear(.created, Self.note(3, "y", 5))
        scene.hear(.patched, Self.note(3, "gone", 6))
        scene.hear(.created, Self.note(4, "z", 7))
        scene.hear(.removed, Self.note(4, "z", 7))
        let page = [Self.note(1, "b", 2), Self.note(2, "x", 3), Self.note(3, "y", 5), Self.note(4, "z", 6)]
        try scene.answer(window, time, page)
        #expect(scene.texts(window) == ["a", "b"] && !scene.wants(window))
    }

    @Test("A page that was requested after an event with an absurd version is taken, and so are later events")
    func absurdVersion() throws {
        var (scene, window) = try scene()
        scene.hear(.patched, ["id": 1, "text": "frozen", "v": 9e99])
        scene.hear(.patched, Self.note(1, "c", 3))
        #expect(scene.texts(window) == ["frozen"])
        try scene.fetch(window, [Self.note(1, "c", 3)])
        #expect(scene.texts(window) == ["c"] && !scene.wants(window))
        scene.hear(.patched, Self.note(1, "d", 4))
        #expect(scene.texts(window) == ["d"] && !scene.wants(window))
        scene.hear(.patched, Self.note(1, "c", 3))
        #expect(scene.texts(window) == ["d"] && !scene.wants(window))
    }

    @Test("A page is believed by every list of the service, unless something was reported since it was requested")
    func believedByAll() throws {
        var (scene, window) = try scene()
        let other = try scene.open(.sorted(by: "id"))
        try scene.fetch(other, [Self.note(1, "b", 2)])
        scene.hear(.patched, ["id": 1, "text": "frozen", "v": 9e99])
        try scene.fetch(window, [Self.note(1, "c", 3)])
        #expect(scene.texts(window) == ["c"] && scene.texts(other) == ["c"])
        let time = try scene.ask(window)
        scene.hear(.patched, Self.note(1, "e", 5))
        try scene.answer(window, time, [Self.note(1, "d", 4)])
        #expect(scene.texts(window) == ["e"] && scene.texts(other) == ["e"] && !scene.wants(window))
    }

    @Test("A record that is created again with a smaller version is fetched, and followed from then on")
    func createdAgain() throws {
        var (scene, window) = try scene()
        scene.hear(.patched, Self.note(1, "c", 7))
        scene.hear(.removed, Self.note(1, "c", 7))
        // Late, and therefore no reason to fetch.
        scene.hear(.patched, Self.note(1, "b", 2))
        #expect(scene.texts(window).isEmpty && !scene.wants(window))
        scene.hear(.created, Self.note(1, "again", 1))
        #expect(scene.wants(window))
        try scene.fetch(window, [Self.note(1, "again", 1)])
        #expect(scene.texts(window) == ["again"] && !scene.wants(window))
        scene.hear(.patched, Self.note(1, "edited", 2))
        #expect(scene.texts(window) == ["edited"] && !scene.wants(window))
    }

    @Test("Without a version, a record follows the rules for records without")
    func missingVersion() throws {
        var (scene, window) = try scene()
        scene.hear(.patched, ["id": 1, "text": "c"])
        #expect(scene.texts(window) == ["c"] && !scene.wants(window))
        scene.hear(.patched, Self.note(1, "d", 3))
        #expect(scene.texts(window) == ["d"] && !scene.wants(window))
    }
}
