import FeathersCore
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSync

/// A process that keeps a result, on a disk that loses power at every call.
@Suite("Kept results on a disk that loses power", .timeLimit(.minutes(10)))
struct PowerFailureTests {
    enum Loss: CaseIterable {
        /// What was not synchronized is lost, is there, or is there by half.
        case lost, kept, torn
    }

    private static let key = KeptResultKey(identity: nil, path: "records", text: "{}")
    private static let sender = RequestSender(nil)
    private static let file = "records.result"

    /// A result with a number of records.
    private static func result(_ count: Int) throws -> KeptResult {
        let judge = try QueryJudge(.sorted(by: "id"), id: "id")
        let rows = try (0..<count).map { try judge.keptRow(["id": .string("r\($0)"), "text": "text"], at: $0) }
        return KeptResult(
            rows: ResultRows(rows), total: count, limit: nil, isComplete: true, isSorted: true, date: .current,
            unsettled: [])
    }

    /// Keeps results until the disk fails.
    /// - Returns: The numbers of records in the result that was being written, and in the last that had been.
    private static func run(on disk: SimulatedDisk) throws -> (began: Int, kept: Int?) {
        var kept: Int?
        for count in 1...4 {
            let bytes = try result(count).bytes(of: key)
            do { try disk.replace(file, with: bytes, draft: "\(file).new") } catch { return (count, kept) }
            kept = count
        }
        return (4, kept)
    }

    @Test("finds a complete result, after a failure at any call", arguments: Loss.allCases)
    func anyCall(_ loss: Loss) async throws {
        let whole = SimulatedDisk()
        #expect(try Self.run(on: whole).kept == 4)
        let calls = whole.state.withLock { $0.calls }
        #expect(calls > 16)
        for lastCall in 0..<calls {
            let disk = SimulatedDisk()
            disk.state.withLock { $0.callsLeft = lastCall }
            let (began, kept) = try Self.run(on: disk)
            let found =
                switch loss {
                case .lost: disk.afterPowerFailure(keepsWrites: false)
                case .kept: disk.afterPowerFailure(keepsWrites: true)
                case .torn: disk.afterTornWrites()
                }
            let bytes = found.bytes(of: Self.file)
            #expect(bytes != nil || kept == nil, "after \(lastCall) calls")
            guard let bytes else { continue }
            let count = try await KeptResult(bytes, of: Self.key).rows.count
            #expect(count == kept || count == began, "after \(lastCall) calls")
        }
    }

    @Test("A kept result names the executed writes that it lacks, however long ago they were executed")
    func unsettled() async throws {
        var store = Store(id: "id")
        // Shaped for its query, so that it does not take responses.
        let window = store.open(Window(try QueryJudge(Query<JSONValue>().selecting("text"), id: "id")))
        let begun = store.beginFetch(window)
        try store.fetched(window, try #require(begun).fetch.time, Page(data: []))
        let id = UUID()
        let write = OutboxWrite(
            id: id, key: id, path: "records", method: .patch, recordID: 2, data: ["text": "b"], query: Query(),
            route: [:], date: Date(),
            identity: nil, lane: "2")
        let result: JSONValue = ["id": 2, "text": "b"]
        store.apply(.queued(write, number: 1))
        store.apply(.sending(id, isRepeated: false))
        store.apply(.executed(id, ServerResult(value: result, sender: Self.sender)))
        let taken = KeptResult(try #require(store.windows[window]), store.unsettled, at: .current)
        #expect(taken.rows.isEmpty)
        let kept = try await KeptResult(taken.bytes(of: Self.key), of: Self.key)
        let old = ExecutedResult(result: result, identity: nil, date: kept.date.addingTimeInterval(-20))
        let executed = ExecutedWrites(writes: [ExecutedWrite(write: write, result: old)])
        #expect(executed.missing(at: "records", nil, since: kept.date, kept.unsettled).map(\.write.id) == [id])
        #expect(executed.missing(at: "records", nil, since: kept.date, []).isEmpty)
    }
}
