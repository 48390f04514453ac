import FeathersCore
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

@Suite("The view of a live query", .timeLimit(.minutes(10)))
struct LiveViewTests {
    static let queries: [Query<JSONValue>] = [
        Query(), .where("kind", "a"), .sorted(by: "rank"),
        .where("rank", .greaterThan(2)).sorted(by: "rank", .descending),
        .sorted(by: "rank").limit(3), .limit(4), .where("kind", "b").sorted(by: "mark").limit(2),
        .sorted(by: "rank").skip(1), Query().skip(2), .sorted(by: "mark").skip(1).limit(3), ["$search": "a"],
        ["$search": "b", "$sort": ["rank": 1]], ["$search": "a", "$limit": 3],
    ]
    static let steps = Environment.count ?? 37_000

    @Test(
        "is the base with the pending writes at every step, never goes back, and is what find gives at rest",
        arguments: queries.indices)
    func histories(_ index: Int) async throws {
        let share = max(Self.steps / Self.queries.count / 60, 1)
        let first = Environment.seed ?? 0
        for seed in first..<first + UInt64(share) {
            await Task.yield()
            var history = try LiveViewHistory(Self.queries[index], seed: seed &* 7919 &+ UInt64(index))
            try history.play(steps: 60)
            for violation in history.violations.prefix(1) {
                Issue.record("\(Self.queries[index]), seed \(seed): \(violation)")
            }
            if !history.violations.isEmpty { return }
        }
    }

    // MARK: Examples

    static func write(
        _ method: ServiceMethod, _ id: ServiceID? = nil, _ data: JSONValue? = nil, as user: String? = nil
    ) -> OutboxWrite {
        let uuid = UUID()
        return OutboxWrite(
            id: uuid, key: uuid, path: "records", method: method, recordID: id, data: data, query: Query(), route: [:],
            date: Date(),
            identity: user.map(Identity.init), lane: "")
    }

    static func view(_ query: Query<JSONValue>, _ records: JSONValue...) throws -> LiveView {
        var view = LiveView(try LiveQueryPlan(query, id: "id"))
        let began = view.fetchBegan()
        try view.fetched(Page(data: records), asked: began.asked, at: began.tick)
        return view
    }

    static func result(_ record: JSONValue) -> ServerResult { ServerResult(value: record, sender: RequestSender(nil)) }

    static func ids(_ view: LiveView) -> [String] { view.visible.map(\.key) }

    /// The states that are not confirmed.
    static func states(_ view: LiveView) -> [RecordState] { view.visible.map(\.state).filter { $0 != .confirmed } }

    @Test("shows a created record in its place, and keeps its row when the server assigns an id")
    func created() throws {
        var view = try Self.view(.sorted(by: "rank"), ["id": 1, "rank": 1], ["id": 2, "rank": 3])
        let write = Self.write(.create, nil, ["rank": 2])
        view.apply(.queued(write, number: 1))
        #expect(Self.ids(view) == ["1", write.provisionalKey(), "2"])
        #expect(Self.states(view) == [.pending])
        view.apply(.sending(write.id, isRepeated: false))
        view.apply(.executed(write.id, Self.result(["id": 3, "rank": 2])))
        #expect(Self.ids(view) == ["1", "3", "2"] && Self.states(view).isEmpty)
        #expect(view.aliases["3"] == write.provisionalKey())
        #expect(!view.needsFetch)
    }

    @Test("shows a created record once, also when its event comes before the answer")
    func eventFirst() throws {
        var view = try Self.view(.sorted(by: "rank"), ["id": 1, "rank": 1])
        let write = Self.write(.create, nil, ["rank": 2])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        view.received(ServiceEvent(path: "records", name: .created, data: ["id": 2, "rank": 2]))
        #expect(Self.ids(view) == ["1", "2"])
        #expect(Self.states(view) == [.pending])
        view.apply(.executed(write.id, Self.result(["id": 2, "rank": 2])))
        #expect(Self.ids(view) == ["1", "2"] && Self.states(view).isEmpty && !view.needsFetch)
    }

    @Test("shows a created record once, also when a kept result has it and the answer has not come")
    func keptCreation() throws {
        var view = LiveView(try LiveQueryPlan(.sorted(by: "rank"), id: "id"))
        let write = Self.write(.create, nil, ["rank": 2])
        var queue = OutboxQueue(limit: 1, retry: OutboxRetry())
        queue.restore(StoredWrite(write: write, number: 1, mayHaveExecuted: true), isKeyed: true)
        view.replaceWrites(queue.writes(of: queue.identity))
        try view.restored([["id": 1, "rank": 1], ["id": 2, "rank": 2]])
        #expect(Self.ids(view) == ["1", "2"])
        #expect(Self.states(view) == [.pending])
    }

    @Test("shows what earlier processes have had executed, also without a kept result, until the first fetch")
    func restoredWithoutBase() throws {
        var view = LiveView(try LiveQueryPlan(.sorted(by: "rank"), id: "id"))
        view.replaceWrites([])
        func restore(_ write: OutboxWrite, _ record: JSONValue) {
            view.restored(
                ExecutedWrite(write: write, result: ExecutedResult(result: record, identity: nil, date: Date())))
        }
        restore(Self.write(.create, nil, ["rank": 2]), ["id": 2, "rank": 2])
        restore(Self.write(.create, nil, ["rank": 3]), ["id": 3, "rank": 3])
        restore(Self.write(.patch, 2, ["rank": 4]), ["id": 2, "rank": 4])
        restore(Self.write(.patch, 9, ["rank": 1]), ["id": 9, "rank": 1, "text": "not ours"])
        restore(Self.write(.remove, 3), ["id": 3, "rank": 3])
        view.apply(.queued(Self.write(.patch, 9, ["rank": 5]), number: 1))
        view.showsWithoutBase = true
        #expect(view.visible.map(\.record) == [["id": 2, "rank": 4], ["id": 9, "rank": 5, "text": "not ours"]])
        #expect(Self.states(view) == [.pending])

        let began = view.fetchBegan()
        try view.fetched(Page(data: [["id": 2, "rank": 6]]), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record) == [["id": 2, "rank": 6]])
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 2, "rank": 7]))
        #expect(view.visible.map(\.record) == [["id": 2, "rank": 7]])
        #expect(!view.needsFetch)
    }

    @Test(
        "shows newer events of what earlier processes have had executed, also without a kept result",
        arguments: [Query(), .sorted(by: "rank")])
    func changedWithoutBase(_ query: Query<JSONValue>) throws {
        var view = LiveView(try LiveQueryPlan(query, id: "id"))
        view.replaceWrites([])
        view.showsWithoutBase = true
        #expect(!view.hasContent)
        for id in 1...3 as ClosedRange<Int64> {
            let record: JSONValue = ["id": .integer(id), "rank": .integer(id)]
            let write = Self.write(.patch, ServiceID(id), ["rank": .integer(id)])
            view.restored(
                ExecutedWrite(write: write, result: ExecutedResult(result: record, identity: nil, date: Date())))
        }
        #expect(Self.ids(view) == ["1", "2", "3"] && view.hasContent && view.needsFetch)
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "rank": 1, "by": "others"]))
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 2, "rank": 2]))
        #expect(view.visible.map(\.record) == [["id": 1, "rank": 1, "by": "others"], ["id": 3, "rank": 3]])
        // Nobody is signed in any more, for whom a fetch could show what was executed.
        view.giveUpExecuted()
        #expect(view.visible.isEmpty && !view.hasContent)
    }

    @Test(
        "does not show a created record again that was removed or changed before the answer came",
        arguments: [Query(), .sorted(by: "rank")])
    func overtakenCreation(_ query: Query<JSONValue>) throws {
        var view = try Self.view(query, ["id": 1, "rank": 1])
        let (removed, changed) = (Self.write(.create, nil, ["rank": 2]), Self.write(.create, nil, ["rank": 3]))
        for (number, write) in [removed, changed].enumerated() {
            view.apply(.queued(write, number: number + 1))
            view.apply(.sending(write.id, isRepeated: false))
        }
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 2, "rank": 2]))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 3, "rank": 4]))
        // An app's own events come in the order of the answers.
        view.received(ServiceEvent(path: "records", name: .created, data: ["id": 2, "rank": 2]))
        #expect(!Self.ids(view).contains("2") && view.needsFetch)
        view.apply(.executed(removed.id, Self.result(["id": 2, "rank": 2])))
        #expect(!Self.ids(view).contains("2"))
        view.apply(.executed(changed.id, Self.result(["id": 3, "rank": 3])))
        // Where only the server knows the place of the record, a fetch tells.
        if !view.needsFetch { #expect(view.visible.map(\.record) == [["id": 1, "rank": 1], ["id": 3, "rank": 4]]) }
        let began = view.fetchBegan()
        try view.fetched(
            Page(data: [["id": 1, "rank": 1], ["id": 3, "rank": 4]]), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record) == [["id": 1, "rank": 1], ["id": 3, "rank": 4]])
        #expect(!view.needsFetch)
    }

    @Test("shows the server's record of a creation whose events have been overtaken")
    func createdAndRemoved() throws {
        var view = try Self.view(.sorted(by: "rank"), ["id": 1, "rank": 1])
        let write = Self.write(.create, nil, ["rank": 2])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        let began = view.fetchBegan()
        try view.fetched(
            Page(data: [["id": 1, "rank": 1], ["id": 2, "rank": 2, "owner": "me"]]), asked: began.asked, at: began.tick)
        view.received(ServiceEvent(path: "records", name: .removed, data: ["id": 2, "rank": 9, "owner": "me"]))
        view.apply(.executed(write.id, Self.result(["id": 2, "rank": 2, "owner": "me"])))
        // Whether the removal came after the creation is for a fetch to decide.
        #expect(
            view.needsFetch
                && view.visible.map(\.record) == [["id": 1, "rank": 1], ["id": 2, "rank": 2, "owner": "me"]])
    }

    @Test("fetches again when a decision is made about a write whose outcome is not known", arguments: [true, false])
    func unknownOutcome(_ isDiscarded: Bool) throws {
        var view = try Self.view(.sorted(by: "rank"), ["id": 1, "rank": 1])
        let write = Self.write(.create, nil, ["rank": 2])
        view.apply(.queued(write, number: 1))
        let error = FeathersError(.unavailable, "Lost", execution: .mayHaveExecuted)
        view.apply(
            .changed(
                write, OutboxFailure(write: write, reason: .unknown, error: error, mayHaveExecuted: true)))
        #expect(!view.needsFetch)
        view.apply(isDiscarded ? .discarded(write.id) : .changed(write, nil))
        #expect(view.needsFetch)
    }

    @Test("takes back a refused write and no other")
    func refused() throws {
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a", "rank": 1])
        let (first, second) = (Self.write(.patch, 1, ["text": "b"]), Self.write(.patch, 1, ["rank": 2]))
        view.apply(.queued(first, number: 1))
        view.apply(.queued(second, number: 2))
        #expect(view.visible.map(\.record) == [["id": 1, "text": "b", "rank": 2]])
        let failure = OutboxFailure(
            write: first, reason: .rejected, error: FeathersError(.forbidden, "No"), mayHaveExecuted: false)
        view.apply(.changed(first, failure))
        #expect(view.visible.map(\.record) == [["id": 1, "text": "a", "rank": 2]])
        view.apply(.discarded(first.id))
        #expect(view.visible.map(\.record) == [["id": 1, "text": "a", "rank": 2]])
        #expect(Self.states(view) == [.pending])
    }

    @Test("hides a removed record, fetches to fill up, and shows it again if the removal is refused")
    func removed() throws {
        var view = LiveView(try LiveQueryPlan(.sorted(by: "rank").limit(2), id: "id"))
        let began = view.fetchBegan()
        #expect(began.asked == 3)
        try view.fetched(
            Page(data: [["id": 1, "rank": 1], ["id": 2, "rank": 2], ["id": 3, "rank": 3]], total: 9), asked: 3,
            at: began.tick)
        let (first, second) = (Self.write(.remove, 1), Self.write(.remove, 2))
        view.apply(.queued(first, number: 1))
        #expect(Self.ids(view) == ["2", "3"] && !view.needsFetch && view.total == 8)
        view.apply(.queued(second, number: 2))
        #expect(Self.ids(view) == ["3"] && view.needsFetch)
        #expect(view.fetchBegan().request.json["$limit"] == 5)
        view.fetchEnded()
        view.apply(.discarded(second.id))
        #expect(Self.ids(view) == ["2", "3"] && !view.needsFetch)
    }

    @Test("keeps a confirmed write when an older event arrives, and asks the server")
    func staleEvent() throws {
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let write = Self.write(.patch, 1, ["text": "mine"])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: false))
        view.apply(.executed(write.id, Self.result(["id": 1, "text": "mine", "n": 1])))
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "text": "theirs", "n": 1]))
        #expect(view.visible.map(\.record["text"]) == ["mine"])
        #expect(view.needsFetch && Self.states(view).isEmpty)
        view.received(ServiceEvent(path: "records", name: .patched, data: ["id": 1, "text": "mine", "n": 1]))
        #expect(view.visible.map(\.record["text"]) == ["mine"])
        #expect(!view.needsFetch)
    }

    @Test("does not let a response that was on its way take back a write")
    func fetchInFlight() throws {
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let write = Self.write(.patch, 1, ["text": "mine"])
        view.apply(.queued(write, number: 1))
        view.missedEvents()
        let began = view.fetchBegan()
        view.apply(.sending(write.id, isRepeated: false))
        view.apply(.executed(write.id, Self.result(["id": 1, "text": "mine"])))
        try view.fetched(Page(data: [["id": 1, "text": "a"]]), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record["text"]) == ["mine"])
        #expect(view.needsFetch)
        let again = view.fetchBegan()
        try view.fetched(Page(data: [["id": 1, "text": "theirs"]]), asked: again.asked, at: again.tick)
        #expect(view.visible.map(\.record["text"]) == ["theirs"])
        #expect(!view.needsFetch)
    }

    @Test("applies no event to a result that was requested after it was delivered")
    func includedEvent() throws {
        func patched(_ text: JSONValue) -> ServiceEvent {
            ServiceEvent(path: "records", name: .patched, data: ["id": 1, "text": text])
        }
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let began = view.fetchBegan(after: 2)
        view.received(patched("b"), at: 1)
        #expect(view.visible.map(\.record["text"]) == ["b"])
        try view.fetched(Page(data: [["id": 1, "text": "c"]]), asked: began.asked, at: began.tick)
        #expect(view.visible.map(\.record["text"]) == ["c"])
        view.received(patched("b"), at: 2)
        #expect(view.visible.map(\.record["text"]) == ["c"])
        view.received(patched("d"), at: 3)
        #expect(view.visible.map(\.record["text"]) == ["d"])
    }

    @Test(
        "never shows the first result of a repeated write again, which may be old", arguments: [true, false],
        [true, false])
    func repeated(_ isCreation: Bool, _ isHeardLate: Bool) throws {
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let old: JSONValue = ["id": 2, "text": "b"]
        let write = isCreation ? Self.write(.create, nil, ["text": "b"]) : Self.write(.patch, 2, ["text": "b"])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: true))
        let shown = Self.ids(view)
        // The service makes an event of the answer. The record has been removed since.
        let event = ServiceEvent(path: "records", name: isCreation ? .created : .patched, data: old)
        if !isHeardLate { view.received(event, at: 1) }
        if !isCreation { #expect(Self.ids(view) == shown) }
        view.apply(.executed(write.id, Self.result(old)))
        #expect(Self.ids(view) == (isCreation ? ["1", "2"] : shown))
        #expect(view.needsFetch)
        let began = view.fetchBegan(after: 1)
        try view.fetched(Page(data: [["id": 1, "text": "a"]]), asked: began.asked, at: began.tick)
        if isHeardLate { view.received(event, at: 1) }
        #expect(Self.ids(view) == ["1"] && !view.needsFetch)
    }

    @Test("leaves the first result of a repeated write to a fetch also in a query that opens while it is in flight")
    func openedDuringRepetition() throws {
        let write = Self.write(.patch, 1, ["text": "b"])
        var queue = OutboxQueue(limit: 1, retry: OutboxRetry())
        queue.restore(StoredWrite(write: write, number: 1, mayHaveExecuted: true), isKeyed: true)
        queue.start()
        #expect(queue.takeSendable(at: .zero).count == 1)
        var view = LiveView(try LiveQueryPlan(.sorted(by: "id"), id: "id"))
        view.replaceWrites(queue.writes(of: queue.identity))
        // Somebody else has changed the record since the first attempt.
        let later: JSONValue = ["id": 1, "text": "c"]
        func fetch() throws {
            let began = view.fetchBegan()
            try view.fetched(Page(data: [later]), asked: began.asked, at: began.tick)
        }
        try fetch()
        let first: JSONValue = ["id": 1, "text": "b"]
        view.received(ServiceEvent(path: "records", name: .patched, data: first), at: 1)
        #expect(view.known("1") == later && Self.states(view) == [.pending])
        view.apply(.executed(write.id, Self.result(first)))
        #expect(view.known("1") == later && view.needsFetch)
        try fetch()
        #expect(view.visible.map(\.record) == [later] && !view.needsFetch)
    }

    @Test(
        "takes a user's result even after that user's new sign-in; what others got or may have got is left to a fetch",
        arguments: [("alice", "alice"), ("alice", "bob"), (nil, "alice"), (nil, nil)] as [(String?, String?)])
    func signIns(_ writer: String?, _ sentAs: String?) throws {
        var state = LiveFeed.State(
            view: try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"], ["id": 2, "text": "b"]))
        state.sender = RequestSender(Identity("alice"))
        let (removal, creation) = (
            Self.write(.remove, 1, as: writer), Self.write(.create, nil, ["text": "c"], as: writer)
        )
        let results: [(OutboxWrite, JSONValue)] = [(removal, ["id": 1]), (creation, ["id": 3, "text": "theirs"])]
        for (number, (write, _)) in results.enumerated() {
            state.apply(.queued(write, number: number))
            state.apply(.sending(write.id, isRepeated: false))
        }
        for (write, result) in results {
            let sender = RequestSender(sentAs.map(Identity.init))
            state.apply(.executed(write.id, ServerResult(result, of: write, sentAs: sender)))
        }
        let isOwn = writer == "alice" && sentAs == "alice"
        #expect(state.view.visible.map(\.record["text"]) == ["b", isOwn ? "theirs" : "c"])
        #expect(state.view.needsFetch != isOwn)
    }

    @Test(
        "ends showing a write whose result went to another user if the server has nothing to show to this one",
        arguments: [true, false])
    func nothingToShow(_ isKnownBefore: Bool) throws {
        var state = LiveFeed.State(view: LiveView(try LiveQueryPlan(.sorted(by: "id"), id: "id")))
        state.sender = RequestSender(nil)
        let write = Self.write(.create, nil, ["text": "c"])
        state.apply(.queued(write, number: 1))
        state.apply(.sending(write.id, isRepeated: false))
        if isKnownBefore { state.hasNothingToShow() } else { state.view.showsWithoutBase = true }
        #expect(state.view.visible.map(\.record["text"]) == ["c"])
        state.apply(
            .executed(
                write.id, ServerResult(["id": 3, "text": "c"], of: write, sentAs: RequestSender(Identity("alice")))))
        if !isKnownBefore { state.hasNothingToShow() }
        #expect(state.view.visible.isEmpty)
    }

    @Test("fetches what a write of another user has done, though its result and its event are not for this one")
    func othersWrite() throws {
        var state = LiveFeed.State(view: try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"]))
        state.sender = RequestSender(Identity("alice"))
        let write = Self.write(.patch, 1, ["text": "b"], as: "bob")
        #expect(!state.view.needsFetch)
        state.apply(
            .executed(
                write.id, ServerResult(["id": 1, "text": "b"], of: write, sentAs: RequestSender(Identity("bob")))))
        #expect(state.view.visible.map(\.record["text"]) == ["a"] && state.view.needsFetch)
    }

    @Test("takes events of a record again once a repeated write to it has been refused")
    func refusedRepetition() throws {
        var view = try Self.view(.sorted(by: "id"), ["id": 1, "text": "a"])
        let write = Self.write(.patch, 1, ["text": "b"])
        view.apply(.queued(write, number: 1))
        view.apply(.sending(write.id, isRepeated: true))
        let failure = OutboxFailure(
            write: write, reason: .rejected, error: FeathersError(.badRequest, "no"), mayHaveExecuted: false)
        view.apply(.changed(write, failure))
        view.received(
            ServiceEvent(path: "records", name: .patched, data: ["id": 1, "text": "b", "other": true]), at: 1)
        #expect(view.known("1")?["other"] == true && !view.needsFetch)
    }

    @Test("shows confirmed writes only, if the caller says so")
    func confirmedOnly() throws {
        var view = LiveView(try LiveQueryPlan(.sorted(by: "id"), id: "id"), confirmedOnly: true)
        let began = view.fetchBegan()
        try view.fetched(Page(data: [["id": 1, "text": "a"]]), asked: began.asked, at: began.tick)
        let write = Self.write(.patch, 1, ["text": "mine"])
        view.apply(.queued(write, number: 1))
        #expect(view.visible.map(\.record["text"]) == ["a"] && Self.states(view).isEmpty)
        view.apply(.sending(write.id, isRepeated: false))
        view.apply(.executed(write.id, Self.result(["id": 1, "text": "mine"])))
        #expect(view.visible.map(\.record["text"]) == ["mine"])
    }
}
