import FeathersCore
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

extension LiveViewTests {
    @Test(
        "leaves it to a fetch which of two overlapping writes was executed last",
        arguments: [.removed, .patched] as [EventName],
        [false, true])
    func overlapping(name: EventName, isFetching: Bool) throws {
        func event(_ name: EventName, _ text: JSONValue, sentAt: Int, receivedAt: Int) -> ServiceEvent {
            ServiceEvent(
                path: "records", name: name, data: ["id": 1, "text": text], sentAt: sentAt, receivedAt: receivedAt)
        }
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let shown: [JSONValue] = name == .removed ? [] : ["b"]
        view.received(event(name, "b", sentAt: 0, receivedAt: 1), at: 1)
        let began = isFetching ? view.fetchBegan(after: 1) : nil
        view.received(event(.patched, "c", sentAt: 0, receivedAt: 2), at: 2)
        #expect(view.visible.map(\.record["text"]) == shown && view.needsFetch)
        if let began {
            let page = shown.map { JSONValue.object(["id": 1, "text": $0]) }
            try view.fetched(Page(data: page), asked: began.asked, at: began.tick)
        }
        #expect(view.visible.map(\.record["text"]) == shown && view.needsFetch)
        let next = view.fetchBegan(after: 2)
        try view.fetched(Page(data: [["id": 1, "text": "c"]]), asked: next.asked, at: next.tick)
        // One that was sent after their responses is newer. A removal always is, unless the record was created again.
        view.received(event(.patched, "d", sentAt: 2, receivedAt: 3), at: 3)
        #expect(view.visible.map(\.record["text"]) == ["d"] && !view.needsFetch)
        view.received(event(.removed, "d", sentAt: 2, receivedAt: 4), at: 4)
        #expect(view.visible.isEmpty && view.needsFetch)
    }

    @Test("expects no other event of a queued write whose event was overtaken", arguments: [true, false])
    func overtakenEcho(isHeardFirst: Bool) throws {
        func patched(_ text: JSONValue, sentAt: Int, receivedAt: Int) -> ServiceEvent {
            ServiceEvent(
                path: "records", name: .patched, data: ["id": 1, "text": text], sentAt: sentAt, receivedAt: receivedAt)
        }
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let write = Self.write(.patch, 1, ["text": "b"])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        view.received(patched("other", sentAt: 0, receivedAt: 1), at: 1)
        if isHeardFirst { view.received(patched("b", sentAt: 0, receivedAt: 2), at: 2) }
        view.apply(.executed(write.id, Self.result(["id": 1, "text": "b"])))
        if !isHeardFirst { view.received(patched("b", sentAt: 0, receivedAt: 2), at: 2) }
        #expect(view.visible.map(\.record["text"]) == ["b"] && view.needsFetch)
        let began = view.fetchBegan(after: 2)
        try view.fetched(Page(data: [["id": 1, "text": "b"]]), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record["text"]) == ["b"] && !view.needsFetch)
        view.received(patched("c", sentAt: 2, receivedAt: 3), at: 3)
        #expect(view.visible.map(\.record["text"]) == ["c"] && !view.needsFetch)
    }

    @Test("keeps showing a record with a queued write when an earlier write or an event takes it out of the result")
    func outside() throws {
        func event(_ name: EventName, _ record: JSONValue) -> ServiceEvent {
            ServiceEvent(path: "records", name: name, data: record)
        }
        var view = try Self.view(["kind": "a"])
        let create = Self.write(.create, nil, ["kind": "b"])
        let patch = Self.write(.patch, ServiceID(create.provisionalKey()), ["kind": "a"])
        view.apply(.queued(create, number: 1))
        view.apply(.sending(create.id, isRepeated: false))
        view.apply(.queued(patch, number: 2))
        #expect(Self.ids(view) == [create.provisionalKey()])
        // Neither the response, nor its event, nor a result without the record, nor a gap takes the row away.
        view.apply(.executed(create.id, Self.result(["id": 2, "kind": "b"])))
        #expect(Self.ids(view) == ["2"])
        view.received(event(.created, ["id": 2, "kind": "b"]))
        #expect(Self.ids(view) == ["2"])
        view.missedEvents()
        let began = view.fetchBegan()
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(Self.ids(view) == ["2"])
        view.received(event(.patched, ["id": 2, "kind": "b", "text": "theirs"]))
        #expect(view.visible.map(\.record) == [["id": 2, "kind": "a", "text": "theirs"]])
        // A refusal does, and a decision to try again brings it back.
        let error = FeathersError(.badRequest, "Refused")
        let failure = OutboxFailure(write: patch, reason: .rejected, error: error, mayHaveExecuted: false)
        view.apply(.changed(patch, failure))
        #expect(Self.ids(view).isEmpty)
        view.apply(.changed(patch, nil))
        #expect(Self.ids(view) == ["2"])
        view.apply(.discarded(patch.id))
        // What no write concerned meanwhile may be outdated.
        view.apply(.queued(patch, number: 3))
        #expect(Self.ids(view).isEmpty)
        view.received(event(.patched, ["id": 2, "kind": "b"]))
        #expect(Self.ids(view) == ["2"])
        view.received(event(.removed, ["id": 2, "kind": "b"]))
        #expect(Self.ids(view).isEmpty)
    }

    @Test(
        "keeps showing a record with a queued write when a fetch comes between the earlier write and its response",
        arguments: [false, true])
    func outsideFetched(isRepeated: Bool) throws {
        var view = try Self.view(["kind": "a"], ["id": 1, "kind": "a", "n": 0])
        let first = Self.write(.patch, 1, ["kind": "b", "n": 1])
        view.apply(.queued(first, number: 1))
        view.apply(.sending(first.id, isRepeated: isRepeated))
        view.apply(.queued(Self.write(.patch, 1, ["kind": "a"]), number: 2))
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 1]])
        func fetch() throws {
            let began = view.fetchBegan()
            try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        }
        try fetch()
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 1]])
        view.apply(.executed(first.id, Self.result(["id": 1, "kind": "b", "n": 1])))
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 1]])
        try fetch()
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 1]])
        // A removal is believed, whatever else was reported.
        let removal = Self.write(.remove, 1)
        view.apply(.queued(removal, number: 3))
        view.apply(.sending(removal.id, isRepeated: false))
        view.apply(.queued(Self.write(.patch, 1, ["n": 2]), number: 4))
        try fetch()
        view.apply(.executed(removal.id, Self.result(["id": 1, "kind": "b", "n": 1])))
        #expect(Self.ids(view).isEmpty)
    }

    @Test(
        "hides a record that a result lacks once the write that would have taken it out is refused, unless sent twice",
        arguments: [400, 404], [false, true])
    func outsideRefused(code: Int, isRetried: Bool) throws {
        var view = try Self.view(["kind": "a"], ["id": 1, "kind": "a"])
        let first = Self.write(.patch, 1, ["kind": "b"])
        func failed(_ reason: OutboxFailure.Reason, _ code: Int) -> OutboxFailure {
            let error = FeathersError(FeathersError.Code(rawValue: code), "Refused")
            return OutboxFailure(write: first, reason: reason, error: error, mayHaveExecuted: reason == .unknown)
        }
        view.apply(.queued(first, number: 1))
        view.apply(.sending(first.id, isRepeated: false))
        if isRetried {
            view.apply(.changed(first, failed(.unknown, 408)))
            view.apply(.changed(first, nil))
            view.apply(.sending(first.id, isRepeated: true))
        }
        view.apply(.queued(Self.write(.patch, 1, ["kind": "a", "n": 1]), number: 2))
        let began = view.fetchBegan()
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 1]])
        // If it was sent twice, the first attempt may have taken the record out.
        view.apply(.changed(first, failed(.rejected, code)))
        #expect(Self.ids(view) == (isRetried && code != 404 ? ["1"] : []))
    }

    @Test("believes a removal although a removal that is being sent again may have caused it")
    func removedByAnother() throws {
        var view = try Self.view([:], ["id": 1])
        let removal = Self.write(.remove, 1)
        view.apply(.queued(removal, number: 1))
        view.apply(.sending(removal.id, isRepeated: true))
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 1]))
        let error = FeathersError(.notFound, "No record")
        view.apply(
            .changed(removal, OutboxFailure(write: removal, reason: .rejected, error: error, mayHaveExecuted: false)))
        #expect(Self.ids(view).isEmpty)
    }

    @Test("applies a pending write after an executed one that was queued later under the id that the server assigned")
    func executedFirst() throws {
        var view = try Self.view([:], ["id": 1, "n": 0])
        view.apply(.queued(Self.write(.patch, 1, ["n": 1]), number: 1))
        let update = Self.write(.update, 1, ["n": 2])
        view.apply(.queued(update, number: 2))
        view.apply(.sending(update.id, isRepeated: true))
        view.apply(.executed(update.id, Self.result(["id": 1, "n": 2])))
        #expect(view.visible.map(\.record) == [["id": 1, "n": 1]])
    }

    @Test(
        "shows a record with a queued write after a restart too, when an executed write has taken it out of the result")
    func outsideRestored() throws {
        var view = LiveView(try LiveQueryPlan(["kind": "a"], id: "id"))
        view.apply(.queued(Self.write(.patch, 2, ["kind": "a"]), number: 2))
        try view.restored([])
        view.restored(
            ExecutedWrite(
                write: Self.write(.create, nil, ["kind": "b"]),
                result: ExecutedResult(result: ["id": 2, "kind": "b"], identity: nil, date: Date())))
        #expect(view.visible.map(\.record) == [["id": 2, "kind": "a"]])
    }

    @Test("shows nothing of a record that was changed and then removed while a fetch was on its way")
    func changedAndRemovedDuringFetch() throws {
        var view = try Self.view(["kind": "a"])
        let first = Self.write(.patch, 1, ["n": 1])
        view.apply(.queued(first, number: 1))
        view.apply(.sending(first.id, isRepeated: false))
        view.apply(.queued(Self.write(.patch, 1, ["kind": "a"]), number: 2))
        let began = view.fetchBegan()
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "kind": "b"]))
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 1]])
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 1, "kind": "b"]))
        #expect(Self.ids(view).isEmpty)
        let error = FeathersError(.notFound, "No record")
        view.apply(
            .changed(first, OutboxFailure(write: first, reason: .rejected, error: error, mayHaveExecuted: false)))
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(Self.ids(view).isEmpty)
    }

    @Test("recognizes the record that a write has created although another view that knows it has changed it already")
    func changedByAnotherView() throws {
        var view = try Self.view(["rank": ["$gt": 2]])
        let creation = Self.write(.create, nil, ["rank": 0])
        view.apply(.queued(creation, number: 1))
        view.apply(.sending(creation.id, isRepeated: false))
        view.apply(.queued(Self.write(.patch, .string(creation.provisionalKey()), ["rank": 4]), number: 2))
        view.apply(.queued(Self.write(.patch, 1, ["n": 1]), number: 3))
        view.received(ServiceEvent(path: "records", name: .created, data: ["id": 1, "rank": 0]))
        #expect(view.visible.map(\.record) == [["id": 1, "rank": 4, "n": 1]])
    }

    @Test(
        "believes the result of a write when a fetch lacks the record, not what was known before",
        arguments: [true, false])
    func resultLacksRecord(isEventHeard: Bool) throws {
        var view = try Self.view(.where("rank", .greaterThan(2)).sorted(by: "n"), ["id": 1, "rank": 3])
        let first = Self.write(.patch, 1, ["rank": 1])
        view.apply(.queued(first, number: 1))
        view.apply(.sending(first.id, isRepeated: true))
        view.missedEvents()
        let began = view.fetchBegan()
        if isEventHeard {
            view.received(ServiceEvent(path: "records", name: .updated, data: ["id": 1, "rank": 3, "n": 1]))
        }
        view.apply(.executed(first.id, Self.result(["id": 1, "rank": 1, "n": 2])))
        view.apply(.queued(Self.write(.patch, 1, ["rank": 4]), number: 2))
        #expect(view.visible.map { $0.record["rank"] } == [4])
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(view.visible.map { $0.record["rank"] } == [4])
        let next = view.fetchBegan()
        try view.fetched(Page(data: []), asked: next.asked, at: next.tick)
        // The event may be newer than the first result of a write that was sent again.
        #expect(view.visible.map(\.record) == [["id": 1, "rank": 4, "n": .integer(isEventHeard ? 1 : 2)]])
    }

    @Test("does not believe that a record belongs to the result because an event said so before, if a fetch lacks it")
    func eventBeforeResult() throws {
        var view = try Self.view(.where("rank", .greaterThan(2)).sorted(by: "n"), ["id": 1, "rank": 3])
        let first = Self.write(.patch, 1, ["rank": 1])
        view.apply(.queued(first, number: 1))
        view.apply(.sending(first.id, isRepeated: false))
        view.received(ServiceEvent(path: "records", name: .updated, data: ["id": 1, "rank": 4, "n": 1]))
        view.apply(.executed(first.id, Self.result(["id": 1, "rank": 1, "n": 2])))
        view.apply(.queued(Self.write(.patch, 1, ["rank": 5]), number: 2))
        #expect(view.visible.map { $0.record["rank"] } == [5])
        let began = view.fetchBegan()
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(view.visible.map { $0.record["rank"] } == [5])
    }

    @Test("keeps showing a record with a queued write if an older event precedes the response to the write in flight")
    func olderEventBeforeResponse() throws {
        var view = try Self.view(["rank": ["$gt": 2]], ["id": 1, "rank": 3])
        let first = Self.write(.patch, 1, ["rank": 4])
        view.apply(.queued(first, number: 1))
        view.apply(.sending(first.id, isRepeated: false))
        view.apply(.queued(Self.write(.patch, 1, ["rank": 5]), number: 2))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "rank": 1]))
        #expect(view.visible.map(\.record) == [["id": 1, "rank": 5]])
        view.apply(.executed(first.id, Self.result(["id": 1, "rank": 4])))
        #expect(view.visible.map(\.record) == [["id": 1, "rank": 5]])
    }

    @Test("believes a removal after a repeated write was executed, which brought the record into the result")
    func removedAfterRepetition() throws {
        var view = try Self.view(["kind": "a"])
        let write = Self.write(.patch, 1, ["kind": "a"])
        view.apply(.queued(write, number: 1))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "kind": "b"]))
        view.apply(.sending(write.id, isRepeated: true))
        view.apply(.executed(write.id, Self.result(["id": 1, "kind": "a"])))
        #expect(Self.ids(view) == ["1"])
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 1, "kind": "a"]))
        #expect(Self.ids(view).isEmpty)
    }

    @Test("ends showing an executed write once one is seen that was queued before it and executed after it")
    func executedInAnotherOrder() throws {
        func patched(_ record: JSONValue) -> ServiceEvent {
            ServiceEvent(path: "records", name: .patched, data: record)
        }
        var view = try Self.view([:], ["id": 1, "n": 0])
        let (first, second) = (Self.write(.patch, 1, ["n": 1]), Self.write(.patch, 1, ["n": 2]))
        view.apply(.queued(first, number: 1))
        view.apply(.queued(second, number: 2))
        let error = FeathersError(.badRequest, "Refused")
        view.apply(
            .changed(first, OutboxFailure(write: first, reason: .rejected, error: error, mayHaveExecuted: false)))
        view.apply(.sending(second.id, isRepeated: false))
        view.received(patched(["id": 1, "n": 0, "other": true]))
        view.apply(.executed(second.id, Self.result(["id": 1, "n": 2, "other": true])))
        #expect(view.visible.map { $0.record["n"] } == [2])
        view.apply(.changed(first, nil))
        view.apply(.sending(first.id, isRepeated: false))
        view.received(patched(["id": 1, "n": 1, "other": true]))
        view.apply(.executed(first.id, Self.result(["id": 1, "n": 1, "other": true])))
        #expect(view.visible.map { $0.record["n"] } == [1])
    }

    @Test("does not believe the old result of a repeated write when a fetch lacks a record that was known to be newer")
    func repeatedBeforeRemoval() throws {
        var view = try Self.view(.where("kind", "a").sorted(by: "n"))
        let creation = Self.write(.create, nil, ["kind": "b"])
        view.apply(.queued(creation, number: 1))
        view.apply(.sending(creation.id, isRepeated: true))
        view.apply(.executed(creation.id, Self.result(["id": 1, "kind": "b"])))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "kind": "a", "n": 1]))
        view.apply(.queued(Self.write(.patch, 1, ["kind": "a", "n": 2]), number: 2))
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 2]])
        // Somebody has removed the record, of which no event tells.
        view.missedEvents()
        let began = view.fetchBegan()
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(Self.ids(view).isEmpty)
    }

    @Test(
        "keeps showing a record when a fetch lacks what was executed while it was on its way",
        arguments: [true, false], [true, false])
    func executedDuringFetch(isCreated: Bool, isPending: Bool) throws {
        var view = try Self.view(.where("rank", .greaterThan(2)).sorted(by: "n"))
        func execute(_ write: OutboxWrite, _ result: JSONValue) {
            view.apply(.queued(write, number: view.writes.count + 1))
            view.apply(.sending(write.id, isRepeated: false))
            view.apply(.executed(write.id, Self.result(result)))
        }
        if isCreated { execute(Self.write(.create, nil, ["rank": 1]), ["id": 1, "rank": 1]) }
        let began = view.fetchBegan()
        execute(Self.write(.patch, 1, ["rank": 4, "n": 1]), ["id": 1, "rank": 4, "n": 1])
        if isPending { view.apply(.queued(Self.write(.patch, 1, ["rank": 3]), number: 9)) }
        let shown: [JSONValue] = [["id": 1, "rank": isPending ? 3 : 4, "n": 1]]
        #expect(view.visible.map(\.record) == shown)
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record) == shown && view.needsFetch)
        // An event decides, whatever the result of the write was.
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 1, "rank": 4, "n": 1]))
        #expect(Self.ids(view).isEmpty)
    }

    @Test("keeps showing a record with a queued write when a fetch lacks what only a repeated write has told of")
    func repeatedThenTakenOut() throws {
        var view = try Self.view(["kind": "a"])
        let creation = Self.write(.create, nil, ["kind": "a"])
        view.apply(.queued(creation, number: 1))
        view.apply(.sending(creation.id, isRepeated: true))
        view.apply(.executed(creation.id, Self.result(["id": 1, "kind": "a"])))
        let patch = Self.write(.patch, 1, ["kind": "b", "n": 1])
        view.apply(.queued(patch, number: 2))
        view.apply(.sending(patch.id, isRepeated: true))
        view.apply(.queued(Self.write(.patch, 1, ["kind": "a"]), number: 3))
        // The server executes the patch before the fetch, and answers it once more after the request was sent.
        let began = view.fetchBegan()
        view.apply(.executed(patch.id, Self.result(["id": 1, "kind": "b", "n": 1])))
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "a", "n": 1]])
    }

    @Test("does not forget that a record is gone when a write to it is refused", arguments: [404, 409])
    func removedThenRefused(code: Int) throws {
        var view = try Self.view(["kind": "a"])
        let first = Self.write(.patch, 1, ["kind": "b"])
        view.apply(.queued(first, number: 1))
        view.apply(.sending(first.id, isRepeated: true))
        view.apply(.executed(first.id, Self.result(["id": 1, "kind": "b"])))
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 1, "kind": "b"]))
        let second = Self.write(.patch, 1, ["n": 1])
        view.apply(.queued(second, number: 2))
        view.apply(.queued(Self.write(.patch, 1, ["kind": "a"]), number: 3))
        let error = FeathersError(FeathersError.Code(rawValue: code), "Refused")
        view.apply(
            .changed(second, OutboxFailure(write: second, reason: .rejected, error: error, mayHaveExecuted: false)))
        #expect(Self.ids(view).isEmpty)
    }

    @Test("shows a queued write to a record beyond the known part on the result of the write before it")
    func changedBeyondKnownPart() throws {
        var view = LiveView(try LiveQueryPlan(.sorted(by: "rank", .descending).limit(1), id: "id"))
        let began = view.fetchBegan()
        let records: [JSONValue] = (0..<began.asked).map { ["id": .integer(Int64($0) + 100), "rank": 4] }
        try view.fetched(Page(data: records), asked: began.asked, at: began.tick)
        let update = Self.write(.update, 1, ["kind": "b", "rank": 0])
        view.apply(.queued(update, number: 1))
        view.apply(.queued(Self.write(.patch, 1, ["rank": 5]), number: 2))
        view.received(ServiceEvent(path: "records", name: .created, data: ["id": 1, "kind": "a", "rank": 3]))
        view.apply(.sending(update.id, isRepeated: false))
        view.apply(.executed(update.id, Self.result(["id": 1, "kind": "b", "rank": 0])))
        #expect(view.visible.map(\.record) == [["id": 1, "kind": "b", "rank": 5]])
    }

    @Test("keeps showing a record that was created and changed while a fetch was on its way")
    func createdDuringFetch() throws {
        var view = try Self.view(.sorted(by: "n"))
        let began = view.fetchBegan()
        let patch = Self.write(.patch, 1, ["n": 2])
        view.apply(.queued(patch, number: 1))
        view.apply(.sending(patch.id, isRepeated: false))
        view.apply(.executed(patch.id, Self.result(["id": 1, "n": 2])))
        view.apply(.queued(Self.write(.patch, 1, ["n": 3]), number: 2))
        #expect(view.visible.map(\.record) == [["id": 1, "n": 3]])
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record) == [["id": 1, "n": 3]] && view.needsFetch)
    }
}
