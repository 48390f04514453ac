import FeathersCore
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSync

/// A process that queues writes, has them executed and keeps its result, on a disk that loses power at every call.
@Suite("Local data on a disk that loses power", .timeLimit(.minutes(10)))
struct PowerFailureTests {
    enum Loss: CaseIterable {
        /// What was not synchronized is lost, is there, or is there by half.
        case lost, kept, torn
    }

    /// What a process has been told before the power failed.
    private struct Told {
        /// The texts of the records that were accepted.
        var accepted: [String] = []
        /// The numbers of records of the results that were being written or had been.
        var began = 0
        var kept: Int?
    }

    private static let key = KeptResultKey(identity: nil, path: "records", text: "{}")
    private static let sender = RequestSender(nil)
    private static let file = "records.result"

    /// Runs a process until its disk fails.
    private static func run(on disk: SimulatedDisk) -> Told {
        var told = Told()
        do {
            var journal = try Journal(on: disk, name: "outbox", path: "/outbox", limits: Journal.Limits())
            var view = try view()
            let began = view.fetchBegan()
            try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
            for number in 1...12 {
                let id = UUID()
                let data: JSONValue = [
                    "id": .string("r\(number)"), "text": .string(String(repeating: "x", count: 100 * number)),
                ]
                let write = OutboxWrite(
                    id: id, key: id, path: "records", method: .create, recordID: nil, data: data, query: Query(),
                    route: [:],
                    date: Date(), identity: nil, lane: "r\(number)")
                try journal.append([Journal.entry(.added(write), path: "/outbox")])
                told.accepted.append("r\(number)")
                view.apply(.queued(write, number: number))
                // The last ones are not executed.
                if number <= 9 {
                    try journal.append([Journal.entry(.begun(id), path: "/outbox")])
                    view.apply(.sending(write.id, isRepeated: false))
                    let result = ExecutedResult(result: data, identity: nil, date: Date())
                    try journal.append([Journal.entry(.ended(id, executed: result), path: "/outbox")])
                    view.apply(.executed(id, ServerResult(value: data, sender: sender)))
                }
                guard number % 3 == 0 else { continue }
                let result = try #require(KeptResult(LiveFeed(view, as: sender), for: key))
                told.began = result.rows.count
                try disk.replace(file, with: result.bytes(of: key), draft: "\(file).new")
                told.kept = result.rows.count
            }
        } catch {}
        return told
    }

    private static func view() throws -> LiveView { LiveView(try LiveQueryPlan(.sorted(by: "id"), id: "id")) }

    @Test(
        "shows every accepted write and a complete earlier result after a failure at any call", arguments: Loss.allCases
    )
    func anyCall(_ loss: Loss) async throws {
        let whole = SimulatedDisk()
        #expect(Self.run(on: whole).accepted.count == 12)
        let calls = whole.state.withLock { $0.calls }
        #expect(calls > 80)
        for lastCall in 0..<calls {
            let disk = SimulatedDisk()
            disk.state.withLock { $0.callsLeft = lastCall }
            let told = Self.run(on: disk)
            let found =
                switch loss {
                case .lost: disk.afterPowerFailure(keepsWrites: false)
                case .kept: disk.afterPowerFailure(keepsWrites: true)
                case .torn: disk.afterTornWrites()
                }
            let journal = try Journal(on: found, name: "outbox", path: "/outbox", limits: Journal.Limits()).contents
            var queue = OutboxQueue(limit: 1, retry: OutboxRetry())
            for stored in journal.inOrder { queue.restore(stored, isKeyed: true) }
            var view = try Self.view()
            view.showsWithoutBase = true
            view.replaceWrites(queue.writes(of: queue.identity))
            let bytes = try found.read(Self.file)
            #expect(bytes != nil || told.kept == nil, "after \(lastCall) calls")
            var (date, unsettled) = (Date.distantPast, Set<UUID>())
            if let bytes {
                let result = try await KeptResult(bytes, of: Self.key)
                let count = result.rows.count
                #expect(count == told.kept || count == told.began, "after \(lastCall) calls")
                #expect(
                    result.rows.map { $0.record["id"] }
                        == Array(told.accepted.map { JSONValue.string($0) }.prefix(count)))
                view.restored(result)
                (date, unsettled) = (result.date, result.unsettled)
            }
            for write in journal.executed.missing(at: "records", nil, since: date, unsettled) { view.restored(write) }
            let shown = Set(view.visible.compactMap { $0.record["id"]?.string })
            #expect(shown.isSuperset(of: told.accepted), "after \(lastCall) calls")
            #expect(shown.count <= told.accepted.count + 1)
        }
    }

    @Test("A kept result names the executed writes that it lacks, however long ago they were executed")
    func unsettled() async throws {
        var view = LiveView(try LiveQueryPlan(Query(), id: "id"))
        let began = view.fetchBegan()
        try view.fetched(Page(data: []), asked: began.asked, at: began.tick)
        let id = UUID()
        let write = OutboxWrite(
            id: id, key: id, path: "records", method: .patch, recordID: 2, data: ["text": "b"], query: Query(),
            route: [:], date: Date(),
            identity: nil, lane: "2")
        let result: JSONValue = ["id": 2, "text": "b"]
        view.apply(.queued(write, number: 1))
        view.apply(.sending(id, isRepeated: false))
        view.apply(.executed(id, ServerResult(value: result, sender: Self.sender)))
        let taken = try #require(KeptResult(LiveFeed(view, as: Self.sender), for: Self.key))
        #expect(taken.rows.isEmpty)
        let kept = try await KeptResult(taken.bytes(of: Self.key), of: Self.key)
        var executed = ExecutedWrites()
        executed.append(
            ExecutedWrite(
                write: write,
                result: ExecutedResult(result: result, identity: nil, date: kept.date.addingTimeInterval(-20))))
        #expect(executed.missing(at: "records", nil, since: kept.date, kept.unsettled).map(\.write.id) == [id])
        #expect(executed.missing(at: "records", nil, since: kept.date, []).isEmpty)
    }

    @Test("Executed writes are stored for kept results to come, however old, within bounds of number and size")
    func bounds() throws {
        let start = Date(timeIntervalSinceReferenceDate: 1000)
        var executed = ExecutedWrites()
        func add(_ count: Int, at seconds: TimeInterval = 0, size: Int = 1) {
            for _ in 0..<count {
                let id = UUID()
                let write = OutboxWrite(
                    id: id, key: id, path: "records", method: .remove, recordID: 1, data: nil, query: Query(),
                    route: [:], date: start,
                    identity: nil, lane: "1")
                let result = ExecutedResult(result: .null, identity: nil, date: start.addingTimeInterval(seconds))
                executed.append(ExecutedWrite(write: write, result: result, size: size))
            }
        }
        func count() -> Int { executed.missing(at: "records", nil, since: start.addingTimeInterval(-1), []).count }
        add(ExecutedWrites.limit.writes)
        #expect(count() == ExecutedWrites.limit.writes)
        add(1)
        #expect(count() == ExecutedWrites.limit.writes / 2)
        add(1, at: 1_000_000)
        #expect(count() == ExecutedWrites.limit.writes / 2 + 1)
        // 17 of 16 that fit, and all small ones.
        add(17, at: 1_000_000, size: ExecutedWrites.limit.bytes / 16)
        #expect(count() < ExecutedWrites.limit.writes / 2)
        let before = count()
        add(1, at: 1_000_000, size: ExecutedWrites.limit.bytes + 1)
        #expect(count() == before)
        executed.remove(of: Identity("alice"))
        #expect(count() == before)
        executed.remove(of: nil)
        #expect(count() == 0)
    }
}
