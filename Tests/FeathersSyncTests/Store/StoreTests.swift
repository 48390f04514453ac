import FeathersCore
import Foundation
import Testing

@testable import FeathersSync

/// One case for each promise; the histories beside it play them against each other.
@Suite("The store of local data")
struct StoreTests {
    /// A store with one window or more, and what happens to them.
    struct Scene {
        var store: Store
        private var lastNumber = 0

        init(version: String? = nil) { store = Store(id: "id", version: version) }

        mutating func open(_ query: Query<JSONValue> = Query()) throws -> Window.ID {
            store.open(Window(try QueryJudge(query, id: "id")))
        }

        /// Sends a fetch; the result answers it.
        mutating func ask(_ window: Window.ID) throws -> Int {
            let begun = store.beginFetch(window)
            return try #require(begun).fetch.time
        }

        mutating func answer(
            _ window: Window.ID, _ time: Int, _ records: [JSONValue], total: Int? = nil,
            _ hooks: HookEffects = HookEffects()
        ) throws {
            try store.fetched(window, time, Page(data: records, total: total ?? records.count), hooks)
        }

        mutating func fetch(_ window: Window.ID, _ records: [JSONValue], total: Int? = nil) throws {
            try answer(window, ask(window), records, total: total)
        }

        mutating func hear(_ name: EventName, _ record: JSONValue, isOwn: Bool = false) {
            store.event(
                isOwn
                    ? ServiceEvent(ownAt: "notes", name: name, data: record)
                    : ServiceEvent(path: "notes", name: name, data: record))
        }

        @discardableResult
        mutating func queue(_ method: ServiceMethod, _ id: ServiceID? = nil, _ data: JSONValue? = nil) -> OutboxWrite {
            let uuid = UUID()
            lastNumber += 1
            let write = OutboxWrite(
                id: uuid, key: uuid, path: "notes", method: method, recordID: id, data: data, query: Query(),
                route: [:], date: Date(), identity: nil, lane: "")
            store.show(OutboxQueue.Item(write: write, number: lastNumber))
            return write
        }

        mutating func send(_ write: OutboxWrite, again: Bool = false) {
            store.begun(write.id, isRepeated: again)
        }

        mutating func respond(to write: OutboxWrite, _ record: JSONValue) {
            store.respond(to: write.id, ServerResult(value: record, sender: nil))
        }

        mutating func fail(_ write: OutboxWrite, _ reason: OutboxFailure.Reason) {
            let error = FeathersError(.badRequest, "No")
            let failure = OutboxFailure(
                write: write, reason: reason, error: error, mayHaveExecuted: reason == .unknown)
            store.show(OutboxQueue.Item(write: write, failure: failure, number: 0))
        }

        /// The records that a window shows.
        mutating func shown(_ window: Window.ID) -> [JSONValue] {
            store.content(of: window)?.rows.map(\.record) ?? []
        }

        mutating func texts(_ window: Window.ID) -> [String] { shown(window).map { $0["text"]?.string ?? "" } }

        mutating func states(_ window: Window.ID) -> [RecordState] {
            store.content(of: window)?.rows.map(\.writeState) ?? []
        }

        func wants(_ window: Window.ID) -> Bool { store.windows[window]?.wantedFetch != nil }
    }

    static func note(_ id: Int64, _ text: String) -> JSONValue { ["id": .integer(id), "text": .string(text)] }

    @Test("A queued creation shows before the first fetch, and no longer once its removal is queued")
    func beforeTheFirstFetch() throws {
        var scene = Scene()
        let window = try scene.open()
        let write = scene.queue(.create, nil, ["text": "new"])
        #expect(scene.texts(window) == ["new"] && scene.states(window) == [.pending])
        scene.queue(.remove, .string(write.provisionalKey()))
        #expect(scene.texts(window).isEmpty)
    }

    @Test("A write that may have been executed is looked for after it is discarded, also behind a fetch in flight")
    func discardedButExecuted() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [])
        let write = scene.queue(.create, nil, ["text": "new"])
        scene.send(write)
        let early = try scene.ask(window)
        scene.fail(write, .unknown)
        #expect(scene.texts(window) == ["new"])
        scene.store.discarded(write.id)
        try scene.answer(window, early, [])
        #expect(scene.texts(window).isEmpty && scene.wants(window))
        try scene.fetch(window, [Self.note(1, "new")])
        #expect(scene.texts(window) == ["new"] && scene.states(window) == [.confirmed] && !scene.wants(window))
    }

    @Test("A repeated call that is answered with its first result does not bring back what others have removed")
    func oldResponse() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [])
        let write = scene.queue(.create, nil, ["text": "new"])
        scene.send(write)
        scene.store.gap()
        scene.send(write, again: true)
        scene.respond(to: write, Self.note(1, "new"))
        #expect(scene.texts(window) == ["new"] && scene.wants(window))
        try scene.fetch(window, [])
        #expect(scene.texts(window).isEmpty && !scene.wants(window))
    }

    @Test("After a response, an older event of the record waits for a fetch")
    func hold() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [Self.note(1, "a")])
        let write = scene.queue(.patch, 1, ["done": true])
        scene.send(write)
        let result: JSONValue = ["id": 1, "text": "c", "done": true]
        scene.respond(to: write, result)
        scene.hear(.patched, Self.note(1, "b"))
        #expect(scene.shown(window) == [result] && scene.wants(window))
        scene.hear(.patched, result)
        scene.hear(.patched, Self.note(1, "d"))
        #expect(scene.texts(window) == ["d"])
    }

    @Test("A response whose event does not arrive is confirmed by a fetch")
    func confirm() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [Self.note(1, "a")])
        let write = scene.queue(.patch, 1, ["text": "b"])
        scene.send(write)
        scene.respond(to: write, Self.note(1, "b"))
        #expect(scene.store.awaitsConfirmation(window) && !scene.wants(window))
        scene.store.confirm()
        #expect(scene.wants(window))
        try scene.fetch(window, [Self.note(1, "b")])
        #expect(!scene.store.awaitsConfirmation(window) && !scene.wants(window))
    }

    @Test("The total is right or marked")
    func total() throws {
        var scene = Scene()
        let limited = try scene.open(.sorted(by: "text").limit(1))
        let skipping = try scene.open(Query<JSONValue>().skip(5))
        try scene.fetch(limited, [Self.note(1, "a"), Self.note(2, "b")], total: 4)
        try scene.fetch(skipping, [], total: 4)
        #expect(
            scene.store.content(of: limited)?.total == 4 && scene.store.content(of: limited)?.isTotalEstimated == false)
        // The fetch has counted it already.
        scene.hear(.created, Self.note(4, "z"))
        #expect(scene.store.content(of: limited)?.isTotalEstimated == true)
        let content = scene.store.content(of: skipping)
        #expect(content?.isTotalEstimated == true && content?.rows.isEmpty == true && scene.wants(skipping))
    }

    @Test("Without events, the app's own writes are shown at once, and the server says how they follow each other")
    func ownWrites() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [])
        scene.hear(.created, Self.note(2, "second"), isOwn: true)
        #expect(scene.texts(window) == ["second"] && scene.wants(window))
        scene.hear(.created, Self.note(1, "first"), isOwn: true)
        try scene.fetch(window, [Self.note(1, "first"), Self.note(2, "second")])
        #expect(scene.texts(window) == ["first", "second"] && !scene.wants(window))
    }

    @Test("A page is thrown away and requested again if more was reported since than the log keeps")
    func overflow() throws {
        var scene = Scene()
        let window = try scene.open()
        let early = try scene.ask(window)
        for _ in 0...2 * ReportLog.limit { scene.hear(.patched, Self.note(1, "a")) }
        try scene.answer(window, early, [Self.note(1, "old")])
        #expect(scene.texts(window) == [] && scene.wants(window))
        try scene.fetch(window, [Self.note(1, "new")])
        #expect(scene.texts(window) == ["new"] && !scene.wants(window))
    }

    @Test("A discarded patch of a record in the making does not show the record beside it")
    func lookAlikeOfPatched() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [])
        let write = scene.queue(.create, nil, ["text": "new"])
        scene.send(write)
        let patch = scene.queue(.patch, .string(write.provisionalKey()), ["text": "newer"])
        scene.hear(.created, Self.note(7, "new"))
        scene.store.discarded(patch.id)
        #expect(scene.texts(window) == ["new"] && scene.states(window) == [.pending])
    }

    @Test("A record that looks like one in the making has no row of its own before the response")
    func lookAlike() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [])
        let write = scene.queue(.create, nil, ["text": "new"])
        scene.send(write)
        scene.hear(.created, Self.note(7, "new"))
        #expect(scene.texts(window) == ["new"] && scene.states(window) == [.pending])
        #expect(scene.store.candidates(of: write.id) == [Self.note(7, "new")])
        scene.respond(to: write, Self.note(8, "new"))
        #expect(scene.shown(window) == [Self.note(7, "new"), Self.note(8, "new")])
        #expect(scene.store.records.firstKeys.shown("8") == write.provisionalKey())
    }

    @Test(
        "A record whose response says nothing has one row, whenever it comes",
        arguments: ["event", "response", "page"])
    func silentResponse(first: String) throws {
        var scene = Scene()
        let (window, other) = (try scene.open(), try scene.open(["text": "a"]))
        for window in [window, other] { try scene.fetch(window, []) }
        let write = scene.queue(.create, nil, ["text": "a"])
        scene.send(write)
        if first == "event" { scene.hear(.created, Self.note(7, "a")) }
        scene.store.respond(to: write.id, nil)
        #expect(scene.texts(window) == ["a"])
        if first == "response" { scene.hear(.created, Self.note(7, "a")) }
        if first == "page" { try scene.fetch(other, [Self.note(7, "a")]) }
        for window in [window, other] { #expect(scene.shown(window) == [Self.note(7, "a")]) }
        // It may be another one's record.
        #expect(scene.store.records.firstKeys.shown("7") == "7")
    }

    @Test("A record that looks like one in the making is shown after a time, also without a response")
    func endOfLookAlike() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [])
        let write = scene.queue(.create, nil, ["text": "new"])
        scene.send(write)
        scene.hear(.created, Self.note(7, "new"))
        let first = try #require(scene.store.newestLookAlike)
        #expect(scene.texts(window) == ["new"])
        scene.store.endLookAlikes(through: first)
        #expect(scene.texts(window) == ["new", "new"] && scene.store.newestLookAlike == nil)
        scene.respond(to: write, Self.note(7, "new"))
        #expect(scene.shown(window) == [Self.note(7, "new")])
        #expect(scene.store.records.firstKeys.shown("7") == write.provisionalKey())
    }

    @Test("A record looks like one in the making only if it has all its values and was not known when that was sent")
    func noLookAlike() throws {
        for known in [true, false] {
            var scene = Scene()
            let window = try scene.open()
            try scene.fetch(window, known ? [Self.note(7, "new")] : [])
            let write = scene.queue(.create, nil, known ? ["text": "new"] : ["text": "new", "done": true])
            scene.send(write)
            scene.hear(.created, Self.note(7, "new"))
            try scene.fetch(window, [Self.note(7, "new")])
            #expect(scene.texts(window) == ["new", "new"] && scene.store.candidates(of: write.id).isEmpty)
        }
    }

    @Test("More records follow if a queued one has taken the place of the last")
    func hasMore() throws {
        var scene = Scene()
        let window = try scene.open(Query().sorted(by: "id", .descending).limit(2))
        try scene.fetch(window, [Self.note(2, "b"), Self.note(1, "a")])
        #expect(scene.texts(window) == ["b", "a"] && scene.store.windows[window]?.hasMore == false)
        scene.queue(.create, nil, ["text": "c", "id": 3])
        #expect(scene.texts(window) == ["c", "b"] && scene.store.windows[window]?.hasMore == true)
    }

    @Test("A refusal takes back its write and no other")
    func refusal() throws {
        var scene = Scene()
        let window = try scene.open()
        try scene.fetch(window, [Self.note(1, "a")])
        let refused = scene.queue(.patch, 1, ["text": "b"])
        scene.queue(.patch, 1, ["done": true])
        scene.send(refused)
        scene.fail(refused, .rejected)
        #expect(scene.shown(window) == [["id": 1, "text": "a", "done": true]])
        scene.store.discarded(refused.id)
        #expect(scene.shown(window) == [["id": 1, "text": "a", "done": true]] && scene.states(window) == [.pending])
    }

    @Test("An update that is queued after a removal shows no record, because the server would refuse it")
    func updateAfterRemoval() throws {
        for query in [Query<JSONValue>(), ["text": ["$odd": 1]]] {
            var scene = Scene()
            let window = try scene.open(query)
            try scene.fetch(window, [Self.note(1, "a")])
            scene.queue(.remove, 1)
            scene.queue(.update, 1, ["text": "b"])
            #expect(scene.texts(window).isEmpty)
        }
    }

    @Test("A limited result that has lost its reserve is filled when a queued removal hides one of its records")
    func lostReserve() throws {
        var scene = Scene()
        let window = try scene.open(.sorted(by: "id").limit(2))
        try scene.fetch(window, [Self.note(1, "a"), Self.note(2, "b"), Self.note(3, "c")], total: 4)
        scene.hear(.removed, Self.note(3, "c"))
        #expect(scene.texts(window) == ["a", "b"] && !scene.wants(window))
        scene.queue(.remove, 1)
        #expect(scene.texts(window) == ["b"] && scene.wants(window))
        try scene.fetch(window, [Self.note(1, "a"), Self.note(2, "b"), Self.note(4, "d")], total: 3)
        #expect(scene.texts(window) == ["b", "d"] && !scene.wants(window))
    }

    @Test("A record has one state in all windows, and absence from a page concerns one only")
    func oneState() throws {
        var scene = Scene()
        let (all, done) = (try scene.open(), try scene.open(.where("done", true)))
        try scene.fetch(all, [["id": 1, "done": true], ["id": 2, "done": false]])
        try scene.fetch(done, [["id": 1, "done": true, "text": "newer"]])
        #expect(scene.texts(all) == ["newer", ""])
        scene.hear(.patched, ["id": 2, "done": true])
        #expect(scene.shown(all).count == 2 && scene.shown(done).contains(["id": 2, "done": true]))
        try scene.fetch(done, [["id": 1, "done": true, "text": "newer"]])
        #expect(scene.shown(all).count == 2 && scene.shown(done).count == 1)
    }

    @Test("Results that are shaped for their query fetch after events, and are no news to other windows")
    func shaped() throws {
        var scene = Scene()
        let (all, some) = (try scene.open(), try scene.open(Query<JSONValue>().selecting("text")))
        try scene.fetch(all, [["id": 1, "text": "a", "done": true]])
        try scene.fetch(some, [Self.note(1, "a")])
        #expect(scene.shown(all) == [["id": 1, "text": "a", "done": true]])
        scene.hear(.patched, ["id": 1, "text": "b", "done": true])
        #expect(scene.texts(all) == ["b"] && scene.texts(some) == ["a"] && scene.wants(some) && !scene.wants(all))
        scene.queue(.patch, 1, ["text": "c"])
        #expect(scene.texts(all) == ["c"] && scene.texts(some) == ["c"])
    }

    @Test("Where hooks change the query or the result, events only tell that there is something to fetch")
    func hooks() throws {
        for effects in [HookEffects(changeQueries: true), HookEffects(changeResults: true)] {
            var scene = Scene()
            let window = try scene.open()
            try scene.answer(window, scene.ask(window), [Self.note(1, "mine")], effects)
            scene.hear(.created, Self.note(2, "theirs"))
            #expect(scene.texts(window) == ["mine"] && scene.wants(window))
        }
    }

    @Test("A first page that does not agree with what was reported while it was on its way is fetched again")
    func firstPage() throws {
        for query in [Query<JSONValue>(), .sorted(by: "text"), Query<JSONValue>().skip(1), ["text": ["$odd": 1]]] {
            var scene = Scene()
            let window = try scene.open(query)
            let time = try scene.ask(window)
            scene.hear(.removed, Self.note(1, "a"))
            // It was created again, of which no event has told yet.
            try scene.answer(window, time, [Self.note(1, "b")])
            #expect(scene.shown(window).isEmpty && scene.wants(window))
        }
    }

    @Test("Before the first page, events add nothing to a result from disk: hooks may leave out what they bring")
    func restoredResult() throws {
        var scene = Scene()
        let window = try scene.open()
        scene.store.restored(.sample([Self.note(1, "mine")], isSorted: false), in: window)
        scene.hear(.created, Self.note(2, "theirs"))
        #expect(scene.texts(window) == ["mine"])
        let write = scene.queue(.patch, 1, ["text": "changed"])
        scene.send(write)
        scene.respond(to: write, Self.note(1, "changed"))
        #expect(scene.texts(window) == ["changed"] && scene.states(window) == [.confirmed])
        let time = try scene.ask(window)
        scene.hear(.created, Self.note(3, "theirs too"))
        try scene.answer(window, time, [Self.note(1, "changed")], HookEffects(changeQueries: true))
        #expect(scene.texts(window) == ["changed"] && scene.wants(window))
    }

    @Test("A record has one state in lists from disk and from the server, and as what a write is applied to")
    func oneStateOnScreen() throws {
        var scene = Scene()
        scene.store = Store(id: "id", isStored: true)
        let fetched = try scene.open()
        try scene.fetch(fetched, [Self.note(1, "new"), Self.note(2, "a"), Self.note(3, "a")])
        scene.hear(.patched, Self.note(2, "b"))
        scene.hear(.removed, Self.note(3, "a"))
        let restored = try scene.open(.where("text", .notEquals("z")).sorted(by: "id"))
        scene.store.restored(.sample((1...4).map { Self.note($0, "old") }), in: restored)
        #expect(scene.texts(restored) == ["new", "b", "old"])
        scene.hear(.patched, Self.note(4, "c"))
        #expect(scene.texts(restored) == ["new", "b", "c"])
        scene.hear(.patched, Self.note(1, "z"))
        scene.hear(.created, Self.note(5, "d"))
        #expect(scene.texts(restored) == ["b", "c"] && scene.texts(fetched).first == "z")
        for _ in 0..<8 { #expect(scene.store.known("1") == Self.note(1, "z")) }
    }

    @Test("The total includes records that queued writes create behind the known part")
    func behind() throws {
        var scene = Scene()
        let window = try scene.open(.sorted(by: "text").limit(2))
        try scene.fetch(window, ["a", "b", "c"].enumerated().map { Self.note(Int64($0), $1) }, total: 9)
        let write = scene.queue(.create, nil, ["text": "z"])
        var content = scene.store.content(of: window)
        #expect(content?.total == 10 && content?.isTotalEstimated == true && content?.rows.count == 2)
        scene.queue(.patch, 8, ["text": "y"])
        #expect(scene.store.content(of: window)?.total == 10)
        scene.store.discarded(write.id)
        content = scene.store.content(of: window)
        #expect(content?.total == 9 && content?.isTotalEstimated == false)
    }

    @Test("A page that was asked for before the list grew takes nothing away from what it shows since")
    func grown() throws {
        var scene = Scene()
        let window = try scene.open(.sorted(by: "id").limit(2))
        let notes = (1...9).map { Self.note(Int64($0), "\($0)") }
        try scene.fetch(window, Array(notes[..<3]), total: 9)
        let short = try scene.ask(window)
        _ = scene.store.change(window) { $0.grow(by: 4) }
        let begun = try scene.store.beginAddition(window)
        let addition = try #require(begun)
        #expect(addition.request.json["$limit"] == 5 && addition.request.json["id"] == ["$gt": 2])
        try scene.answer(window, addition.fetch.time, Array(notes[2..<7]), total: 7)
        #expect(scene.texts(window) == ["1", "2", "3", "4", "5", "6"])
        try scene.answer(window, short, Array(notes[..<3]), total: 9)
        #expect(scene.texts(window) == ["1", "2", "3", "4", "5", "6"] && scene.wants(window))
        try scene.fetch(window, Array(notes[..<7]), total: 9)
        #expect(scene.texts(window) == ["1", "2", "3", "4", "5", "6"] && !scene.wants(window))
    }
}
