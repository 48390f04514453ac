import FeathersCore
import Foundation
import Testing

@testable import FeathersSync

/// Windows whose records have some keys.
@Suite("The store's windows of relations")
struct RelationWindowTests {
    private struct Scene {
        var store = Store(id: "id")

        mutating func open(_ property: String, sortedBy order: String = "id") throws -> Window.ID {
            var window = Window(try QueryJudge(.sorted(by: order), id: "id"))
            window.beginKeys(property)
            return store.open(window)
        }

        mutating func add(_ keys: Int64..., to window: Window.ID) {
            var change = RelatedKeys.Change()
            for key in keys { change.added["\(key)"] = .integer(key) }
            store.changeKeys(of: window, change)
        }

        mutating func remove(_ key: Int64, from window: Window.ID, rows: [String]) {
            var change = RelatedKeys.Change()
            change.removed["\(key)"] = rows
            store.changeKeys(of: window, change)
        }

        /// Sends a fetch; the result answers it.
        mutating func ask(_ window: Window.ID) throws -> Int {
            let begun = store.beginFetch(window)
            return try #require(begun).fetch.time
        }

        mutating func fetch(
            _ window: Window.ID, _ records: JSONValue..., hooks: HookEffects = HookEffects()
        ) throws {
            try store.fetched(window, ask(window), Page(data: records), hooks)
        }

        mutating func restore(_ records: JSONValue..., in window: Window.ID) {
            store.restored(.sample(records), in: window)
        }

        /// A list with a write that was executed after it was stored.
        mutating func restore(_ records: JSONValue..., patched: [JSONValue], in window: Window.ID) {
            store.restored(.sample(records, newer: patched), in: window)
        }

        mutating func shown(_ window: Window.ID) -> [JSONValue] {
            store.content(of: window)?.rows.map(\.record) ?? []
        }
    }

    private let old: JSONValue = ["id": 1, "name": "old"]
    private let new: JSONValue = ["id": 1, "name": "new"]

    @Test("A write of an earlier process changes a record from disk, but none that was fetched since")
    func executed() throws {
        var scene = Scene()
        let author = try scene.open("id")
        scene.add(1, to: author)
        try scene.fetch(author, new)
        let reader = try scene.open("id")
        scene.add(1, 2, to: reader)
        scene.restore(
            old, ["id": 2, "name": "old"], patched: [old, ["id": 2, "name": "patched"]], in: reader)
        #expect(scene.shown(reader) == [new, ["id": 2, "name": "patched"]])
        #expect(scene.shown(author) == [new])
    }

    @Test("A page that hooks have changed includes the writes of earlier processes")
    func hooks() throws {
        var scene = Scene()
        let window = try scene.open("id")
        scene.add(1, to: window)
        scene.restore(old, patched: [old], in: window)
        try scene.fetch(window, new, hooks: HookEffects(changeQueries: true))
        #expect(scene.shown(window) == [new])
    }

    @Test("A page that changes the place of a record from disk does not lose it")
    func places() throws {
        var scene = Scene()
        let window = try scene.open("noteID", sortedBy: "mark")
        scene.add(7, to: window)
        scene.restore(
            ["id": 1, "noteID": 7, "mark": "a"], ["id": 2, "noteID": 7, "mark": "b"],
            ["id": 3, "noteID": 7, "mark": "c"], in: window)
        let last: JSONValue = ["id": 1, "noteID": 7, "mark": "z"]
        try scene.fetch(window, ["id": 2, "noteID": 7, "mark": "b"], ["id": 3, "noteID": 7, "mark": "c"], last)
        scene.store.event(ServiceEvent(path: "notes", name: .removed, data: last))
        #expect(scene.shown(window).map { $0["id"] } == [2, 3])
    }

    @Test("A record leaves with a page that shows it at a key that is no longer wanted")
    func unwanted() throws {
        var scene = Scene()
        let window = try scene.open("noteID")
        scene.add(7, 8, to: window)
        scene.restore(["id": 1, "noteID": 7], in: window)
        let time = try scene.ask(window)
        scene.remove(8, from: window, rows: [])
        try scene.store.fetched(window, time, Page(data: [["id": 1, "noteID": 8]]))
        #expect(scene.shown(window).isEmpty)
    }

    @Test("A record from disk joins no list that is fetched without it", arguments: [false, true])
    func moved(isInFlight: Bool) throws {
        var scene = Scene()
        let (fetched, stored) = (try scene.open("noteID"), try scene.open("noteID"))
        scene.add(7, to: fetched)
        let time = try scene.ask(fetched)
        if !isInFlight { try scene.store.fetched(fetched, time, Page(data: [])) }
        scene.add(7, to: stored)
        scene.restore(["id": 1, "noteID": 7], in: stored)
        if isInFlight { try scene.store.fetched(fetched, time, Page(data: [])) }
        #expect(scene.shown(fetched).isEmpty && scene.store.windows[fetched]?.wantedFetch == nil)
        #expect(scene.shown(stored) == [["id": 1, "noteID": 7]])
    }
}
