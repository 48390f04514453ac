import FeathersCore
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

extension LiveViewTests {
    @Test("shows an executed write until a fetch says where its result belongs")
    func unplaced() throws {
        func execute(
            _ write: OutboxWrite, _ result: JSONValue, hearing events: [ServiceEvent] = [], in view: inout LiveView
        ) {
            view.apply(.queued(write, number: view.writes.count + 1))
            view.apply(.sending(write.id, isRepeated: false))
            for event in events { view.received(event) }
            view.apply(.executed(write.id, Self.result(result)))
        }
        // A record that another app has made, of which only this app's writes tell.
        for isHeardBefore in [false, true, nil] {
            let result: JSONValue = ["id": 2, "text": "b"]
            let event = ServiceEvent(path: "records", name: .updated, data: result)
            var whole = try Self.view(Query(), ["id": 1, "text": "a"])
            execute(
                Self.write(.update, 2, ["text": "b"]), result, hearing: isHeardBefore == true ? [event] : [], in: &whole
            )
            if isHeardBefore == false { whole.received(event) }
            #expect(
                whole.visible.map(\.record["text"]) == ["a", "b"] && whole.needsFetch && Self.states(whole).isEmpty)
            execute(Self.write(.patch, 2, ["text": "c"]), ["id": 2, "text": "c"], in: &whole)
            #expect(
                whole.visible.map(\.record["text"]) == ["a", "c"] && whole.needsFetch && Self.states(whole).isEmpty)
        }
        // An older event brings back no earlier write alone: the fetch has shown the later one.
        var late = try Self.view(Query())
        execute(Self.write(.patch, 2, ["text": "b"]), ["id": 2, "text": "b"], in: &late)
        let fetch = late.fetchBegan()
        execute(Self.write(.patch, 2, ["text": "c"]), ["id": 2, "text": "c"], in: &late)
        try late.fetched(Page(data: [["id": 2, "text": "c"]]), asked: fetch.asked, at: fetch.tick)
        late.received(ServiceEvent(path: "records", name: .created, data: ["id": 2, "text": "a"]))
        #expect(late.visible.map(\.record["text"]) == ["c"])
        // What follows the known part moves up, and what that is only the server knows.
        var page = try Self.view(.sorted(by: "id").skip(1), ["id": 2], ["id": 3])
        execute(Self.write(.remove, 2), ["id": 2], in: &page)
        #expect(Self.ids(page) == ["3"] && page.needsFetch)
        let began = page.fetchBegan()
        try page.fetched(Page(data: [["id": 4]]), asked: began.asked, at: began.tick)
        #expect(Self.ids(page) == ["4"] && !page.needsFetch)
    }

    @Test("shows what earlier processes have had executed and a kept result lacks, though only a fetch knows its place")
    func restoredIntoBase() throws {
        var view = LiveView(try LiveQueryPlan(Query(), id: "id"))
        try view.restored([["id": 1, "text": "a"]])
        let write = Self.write(.patch, 2, ["text": "b"])
        view.restored(
            ExecutedWrite(
                write: write, result: ExecutedResult(result: ["id": 2, "text": "b"], identity: nil, date: Date())))
        #expect(view.visible.map(\.record["text"]) == ["a", "b"] && view.needsFetch)
    }

    @Test("shows an executed write whose event the result could not take, until a fetch tells")
    func untaken() throws {
        func ranks(of query: Query<JSONValue>, _ records: JSONValue...) throws -> [JSONValue?] {
            var view = LiveView(try LiveQueryPlan(query, id: "id"))
            let began = view.fetchBegan()
            try view.fetched(Page(data: .init(records)), asked: began.asked, at: began.tick)
            let write = Self.write(.patch, 2, ["rank": 5])
            view.apply(.queued(write, number: 1))
            view.apply(.sending(write.id, isRepeated: false))
            view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 2, "rank": 5]))
            view.apply(.executed(write.id, Self.result(["id": 2, "rank": 5])))
            #expect(view.needsFetch)
            return view.visible.map { $0.record["rank"] }
        }
        // The server's operator, its own order, and skipped records.
        #expect(try ranks(of: ["$search": "b"], ["id": 1, "rank": 1], ["id": 2, "rank": 2]) == [1, 5])
        #expect(try Set(ranks(of: .sorted(by: "rank"), ["id": 1, "rank": 3], ["id": 2, "rank": 2])) == [3, 5])
        #expect(try ranks(of: .sorted(by: "rank").skip(1), ["id": 1, "rank": 1], ["id": 2, "rank": 2]) == [1, 5])
    }

    @Test("keeps a newer change after a gap, when the answer to an own write follows its event")
    func answeredAfterGap() throws {
        var view = try Self.view(.sorted(by: "rank"), ["id": 1, "rank": 1, "n": 0])
        view.missedEvents()
        _ = view.fetchBegan()
        let write = Self.write(.patch, 1, ["n": 1])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        for n in 1...2 as ClosedRange<Int64> {
            view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "rank": 1, "n": .integer(n)]))
        }
        view.apply(.executed(write.id, Self.result(["id": 1, "rank": 1, "n": 1])))
        #expect(view.visible.map(\.record["n"]) == [2] && view.writes.isEmpty)
    }

    @Test(
        "needs no fetch for an own removal, whatever the operators, and keeps no writes for a query that shows nothing"
    )
    func removedUnjudged() throws {
        var view = try Self.view(["$search": "b"], ["id": 1, "text": "b"], ["id": 2, "text": "b"])
        var empty = try Self.view(["$search": "b", "$limit": 0])
        let removal = Self.write(.remove, 2)
        view.apply(.queued(removal, number: 1))
        view.apply(.sending(removal.id, isRepeated: false))
        view.apply(.executed(removal.id, Self.result(["id": 2, "text": "b"])))
        #expect(Self.ids(view) == ["1"] && view.writes.isEmpty && !view.needsFetch)
        let write = Self.write(.patch, 1, ["rank": 1])
        empty.apply(.queued(write, number: 1))
        empty.apply(.sending(write.id, isRepeated: false))
        empty.apply(.executed(write.id, Self.result(["id": 1, "rank": 1])))
        #expect(empty.writes.isEmpty && !empty.needsFetch)
    }

    @Test("shows a repeated write while older events follow, until no more do before a fetch responds")
    func repeatedBeforeOlderEvents() throws {
        func event(_ name: EventName, _ text: JSONValue) -> ServiceEvent {
            ServiceEvent(path: "records", name: name, data: ["id": 1, "text": text])
        }
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let write = Self.write(.patch, 1, ["text": "c"])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: true))
        view.apply(.executed(write.id, Self.result(["id": 1, "text": "c"])))
        for (events, needsFetch) in [([event(.updated, "b")], true), ([event(.patched, "c")], true), ([], false)] {
            let began = view.fetchBegan()
            for event in events { view.received(event) }
            #expect(view.visible.map(\.record["text"]) == ["c"])
            try view.fetched(Page(data: [["id": 1, "text": "c"]]), asked: began.asked, at: began.tick)
            #expect(view.visible.map(\.record["text"]) == ["c"] && view.needsFetch == needsFetch)
        }
    }

    @Test("shows what is executed before anything has been fetched")
    func executedWithoutBase() throws {
        var view = LiveView(try LiveQueryPlan(.sorted(by: "rank"), id: "id"))
        view.showsWithoutBase = true
        let write = Self.write(.create, nil, ["rank": 2])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        #expect(view.hasContent)
        view.apply(.executed(write.id, Self.result(["id": 2, "rank": 2])))
        #expect(Self.ids(view) == ["2"] && view.hasContent && view.needsFetch)
    }

    @Test("fills a limited result up again after removals that were queued while it was being fetched")
    func removedDuringFetch() throws {
        var view = LiveView(try LiveQueryPlan(.sorted(by: "rank").limit(2), id: "id"))
        let records: [JSONValue] = (1...5).map { ["id": .integer($0), "rank": .integer($0)] }
        var began = view.fetchBegan()
        for id in 1...2 as ClosedRange<Int64> {
            view.apply(.queued(Self.write(.remove, ServiceID(id)), number: Int(id)))
        }
        try view.fetched(Page(data: Array(records.prefix(began.asked))), asked: began.asked, at: began.tick)
        #expect(Self.ids(view) == ["3"] && view.needsFetch)
        began = view.fetchBegan()
        try view.fetched(Page(data: Array(records.prefix(began.asked))), asked: began.asked, at: began.tick)
        #expect(Self.ids(view) == ["3", "4"] && !view.needsFetch)
    }

    @Test("ends showing a write whose event came during the fetch that knows its record first")
    func heardBeforeKnown() throws {
        func patched(_ text: JSONValue) -> ServiceEvent {
            ServiceEvent(path: "records", name: .patched, data: ["id": 1, "text": text])
        }
        var view = LiveView(try LiveQueryPlan(Query(), id: "id"))
        let write = Self.write(.patch, 1, ["text": "mine"])
        view.apply(.queued(write, number: 1))
        let began = view.fetchBegan()
        view.apply(.sending(write.id, isRepeated: false))
        view.received(patched("mine"))
        view.received(patched("theirs"))
        view.apply(.executed(write.id, Self.result(["id": 1, "text": "mine"])))
        try view.fetched(Page(data: [["id": 1, "text": "mine"]]), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record["text"]) == ["theirs"])
        // Nothing more is expected of the write, so a later event does not bring it back.
        view.received(patched("later"))
        #expect(view.visible.map(\.record["text"]) == ["later"])
        #expect(!view.needsFetch)
    }

    private static func patched(_ number: Int64) -> ServiceEvent {
        ServiceEvent(path: "records", name: .patched, data: ["id": 1, "n": .integer(number)])
    }

    @Test("keeps showing a write that is sent a second time by decision, whatever follows the events of its first time")
    func decidedTwice() throws {
        var view = try Self.view([:], ["id": 1, "n": 0])
        let write = Self.write(.patch, 1, ["n": 1])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        let error = FeathersError(.timeout, "No response")
        view.apply(.changed(write, OutboxFailure(write: write, reason: .unknown, error: error, mayHaveExecuted: true)))
        view.apply(.changed(write, nil))
        view.received(Self.patched(1))
        view.received(Self.patched(2))
        view.apply(.sending(write.id, isRepeated: false))
        view.apply(.executed(write.id, Self.result(["id": 1, "n": 1])))
        #expect(view.visible.map { $0.record["n"] } == [1] && view.needsFetch)
        view.received(Self.patched(1))
        #expect(view.visible.map { $0.record["n"] } == [1] && view.writes.isEmpty)
    }

    @Test("shows at once what others change after a write sent by decision, with other data or once a fetch shows it")
    func decidedOnce() throws {
        for isReplaced in [true, false] {
            var view = try Self.view([:], ["id": 1, "n": 0])
            var write = Self.write(.patch, 1, ["n": 1])
            view.apply(.queued(write, number: 1))
            view.apply(.sending(write.id, isRepeated: false))
            let error = FeathersError(.timeout, "No response")
            view.apply(
                .changed(write, OutboxFailure(write: write, reason: .unknown, error: error, mayHaveExecuted: true)))
            if isReplaced { write.data = ["n": 2] }
            view.apply(.changed(write, nil))
            view.apply(.sending(write.id, isRepeated: false))
            view.received(Self.patched(isReplaced ? 2 : 1))
            view.apply(.executed(write.id, Self.result(["id": 1, "n": isReplaced ? 2 : 1])))
            if !isReplaced {
                let began = view.fetchBegan()
                try view.fetched(Page(data: [["id": 1, "n": 1]]), asked: began.asked, at: began.tick)
            }
            view.received(Self.patched(3))
            #expect(view.visible.map { $0.record["n"] } == [3])
        }
    }

    @Test("expects no second event of a write whose event came before a fetch showed its place")
    func heardBeforePlaced() throws {
        var view = try Self.view(Query())
        let write = Self.write(.patch, 1, ["n": 1])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        view.apply(.executed(write.id, Self.result(["id": 1, "n": 1])))
        view.received(Self.patched(1))
        let began = view.fetchBegan()
        try view.fetched(Page(data: [["id": 1, "n": 1]]), asked: began.asked, at: began.tick)
        view.received(Self.patched(2))
        #expect(view.visible.map { $0.record["n"] } == [2] && !view.needsFetch)
    }

    @Test("goes back to no older event after a fetch has shown a repeated write, but to a newer one that a fetch shows")
    func repeatedAndFetched() throws {
        var view = try Self.view([:], ["id": 1, "n": 0])
        func fetch(_ number: Int64) throws {
            let began = view.fetchBegan()
            try view.fetched(Page(data: [["id": 1, "n": .integer(number)]]), asked: began.asked, at: began.tick)
        }
        let write = Self.write(.patch, 1, ["n": 2])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: true))
        view.apply(.executed(write.id, Self.result(["id": 1, "n": 2])))
        try fetch(2)
        // From before the write.
        view.received(Self.patched(1))
        #expect(view.visible.map { $0.record["n"] } == [2] && view.needsFetch)
        try fetch(3)
        view.received(Self.patched(4))
        #expect(view.visible.map { $0.record["n"] } == [4] && !view.needsFetch)
    }

    @Test("shows at once what others change after a repeated write whose event has come", arguments: [true, false])
    func repeatedAndHeard(isSentBefore: Bool) throws {
        var view = try Self.view([:], ["id": 1, "n": 0])
        let write = Self.write(.patch, 1, ["n": 2])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        if isSentBefore { view.received(Self.patched(2)) }
        view.apply(.sending(write.id, isRepeated: true))
        if !isSentBefore { view.received(Self.patched(2)) }
        view.apply(.executed(write.id, Self.result(["id": 1, "n": 2])))
        let began = view.fetchBegan()
        try view.fetched(Page(data: [["id": 1, "n": 2]]), asked: began.asked, at: began.tick)
        view.received(Self.patched(3))
        #expect(view.visible.map { $0.record["n"] } == [3] && !view.needsFetch)
    }

    @Test("recognizes the record of a signed-out creation after it was sent for a user with an unknown outcome")
    func claimedCreation() throws {
        var view = try Self.view(Query())
        var write = Self.write(.create, nil, ["text": "a"])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        write.identity = Identity("alice")
        let error = FeathersError(.timeout, "No response", execution: .mayHaveExecuted)
        view.apply(.changed(write, OutboxFailure(write: write, reason: .unknown, error: error, mayHaveExecuted: true)))
        view.received(ServiceEvent(path: "records", name: .created, data: ["id": 7, "text": "a"]))
        #expect(Self.ids(view) == ["7"] && view.adopted(by: write).values.map(\.self) == [7])
    }

    @Test("does not apply an executed write again whose event has come while a later one was sent twice")
    func repeatedAfterAnother() throws {
        var view = try Self.view([:], ["id": 1, "n": 0, "m": 0])
        let writes = [Self.write(.patch, 1, ["m": 1]), Self.write(.patch, 1, ["n": 2])]
        for (number, write) in writes.enumerated() {
            view.apply(.queued(write, number: number))
            view.apply(.sending(write.id, isRepeated: false))
            if number == 1 { view.apply(.sending(write.id, isRepeated: true)) }
            view.apply(.executed(write.id, Self.result(["id": 1, "n": .integer(Int64(number * 2)), "m": 1])))
        }
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "n": 0, "m": 1]))
        let began = view.fetchBegan()
        try view.fetched(Page(data: [["id": 1, "n": 2, "m": 1]]), asked: began.asked, at: began.tick)
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "n": 2, "m": 3]))
        #expect(view.visible.map(\.record) == [["id": 1, "n": 2, "m": 3]])
    }

    @Test("expects no second event of a write whose event came before its response and could not be placed")
    func untakenBeforeResponse() throws {
        var view = try Self.view(Query(), ["id": 1, "n": 0])
        let write = Self.write(.patch, 2, ["n": 1])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 2, "n": 1]))
        view.apply(.executed(write.id, Self.result(["id": 2, "n": 1])))
        let began = view.fetchBegan()
        try view.fetched(Page(data: [["id": 1, "n": 0], ["id": 2, "n": 1]]), asked: began.asked, at: began.tick)
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 2, "n": 5]))
        #expect(view.visible.map { $0.record["n"] } == [0, 5] && !view.needsFetch)
    }

    @Test("does not show an event again that came, during a fetch, before a write whose result is newer")
    func resultAfterEvent() throws {
        var view = try Self.view([:], ["id": 1, "kind": "b", "n": 4])
        let (update, patch) = (Self.write(.update, 1, ["kind": "b", "n": 5]), Self.write(.patch, 1, ["n": 0]))
        view.apply(.queued(update, number: 1))
        view.apply(.sending(update.id, isRepeated: false))
        view.apply(.sending(update.id, isRepeated: true))
        let fetch = view.fetchBegan(after: 4)
        view.apply(.queued(patch, number: 2))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "kind": "a", "n": 4]), at: 5)
        // It may repeat an earlier result, so it is left to a fetch.
        view.received(ServiceEvent(path: "records", name: .updated, data: ["id": 1, "kind": "b", "n": 5]), at: 6)
        view.apply(.executed(update.id, Self.result(["id": 1, "kind": "b", "n": 5])))
        view.apply(.sending(patch.id, isRepeated: false))
        let result: JSONValue = ["id": 1, "kind": "b", "n": 0]
        view.apply(.executed(patch.id, Self.result(result)))
        #expect(view.visible.map(\.record) == [result])
        try view.fetched(Page(data: [result]), asked: fetch.asked, at: fetch.tick)
        #expect(view.visible.map(\.record) == [result])
    }

    @Test(
        "takes away a removed record whose executed update no event has told of",
        arguments: [ServiceMethod.update, .patch])
    func updatedAndRemoved(_ method: ServiceMethod) throws {
        var view = try Self.view([:], ["id": 1, "n": 0])
        let write = Self.write(method, 1, ["n": 1])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        view.apply(.executed(write.id, Self.result(["id": 1, "n": 1])))
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 1, "n": 1]))
        #expect(view.visible.isEmpty && view.writes.isEmpty)
    }

    @Test("does not go back to an older event when an event of another record is left to a fetch")
    func repeatedBesideAnother() throws {
        var view = try Self.view([:], ["id": 1, "n": 0], ["id": 2, "n": 0])
        let (repeated, write) = (Self.write(.patch, 2, ["n": 1]), Self.write(.patch, 1, ["n": 2]))
        for (index, each) in [repeated, write].enumerated() {
            view.apply(.queued(each, number: index + 1))
            view.apply(.sending(each.id, isRepeated: index == 0))
        }
        view.apply(.executed(write.id, Self.result(["id": 1, "n": 2])))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 2, "n": 1]))
        let began = view.fetchBegan()
        try view.fetched(Page(data: [["id": 1, "n": 2], ["id": 2, "n": 1]]), asked: began.asked, at: began.tick)
        view.received(Self.patched(1))
        #expect(view.visible.first?.record["n"] == 2)
    }
}
