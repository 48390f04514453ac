import FeathersCore
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// The changes that turn a stored list into another one, judged by a dictionary of chunks.
@Suite("A stored list after any changes")
struct SavedListTests {
    private static func rows(_ records: [Int: Int], _ order: [Int]) -> ResultRows {
        ResultRows(
            order.map {
                ResultRow(Record("\($0)", ["id": .integer(Int64($0)), "v": .integer(Int64(records[$0] ?? 0))]))
            })
    }

    /// What a database does with the changes of a list.
    private struct Table {
        var chunks: [Int: [String]] = [:]
        var records: [String: JSONValue] = [:]

        mutating func apply(_ changes: SavedList.Changes, to rows: ResultRows) {
            for place in changes.removed { chunks[place] = nil }
            for (place, range) in changes.written { chunks[place] = rows[range].map(\.key) }
            for row in changes.records { records[row.key] = row.record }
        }

        var keys: [String] { chunks.sorted { $0.key < $1.key }.flatMap(\.value) }
    }

    @Test("has the keys in the order of its chunks, and the records as they are", arguments: 0..<40)
    func histories(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var versions: [Int: Int] = [:]
        var order = Array(0..<Int.random(in: 0..<600, using: &random))
        var saved = SavedList(number: 1, isShaped: false)
        var table = Table()
        var last = 1000
        for step in 0..<60 {
            for _ in 0..<Int.random(in: 0..<(step % 10 == 9 ? 200 : 6), using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0, 1:
                    last += 1
                    order.insert(last, at: .random(in: 0...order.count, using: &random))
                case 2 where !order.isEmpty: order.remove(at: .random(in: 0..<order.count, using: &random))
                case 3 where !order.isEmpty:
                    versions[order[.random(in: 0..<order.count, using: &random)], default: 0] += 1
                default: break
                }
            }
            if step == 50 { order = [] }
            let next = Self.rows(versions, order)
            let changes = saved.changes(to: next)
            let before = Dictionary(uniqueKeysWithValues: saved.rows.map { ($0.key, $0.record) })
            #expect(changes.records.count == next.count { before[$0.key] != $0.record })
            #expect(changes.lostCount == Set(before.keys).subtracting(next.map(\.key)).count)
            table.apply(changes, to: next)
            (saved.rows, saved.chunks) = (next, changes.chunks)
            #expect(table.keys == order.map(String.init))
            #expect(next.allSatisfy { table.records[$0.key] == $0.record })
            let counts = Dictionary(uniqueKeysWithValues: saved.chunks.map { ($0.place, $0.count) })
            #expect(table.chunks.mapValues(\.count) == counts)
            #expect(table.chunks.values.allSatisfy { !$0.isEmpty && $0.count <= 128 })
        }
    }

    @Test("changes one record and no chunk for one changed record, also after a fetch that has made all rows anew")
    func oneChange() throws {
        let order = Array(0..<1000)
        var saved = SavedList(number: 1, isShaped: false)
        let first = Self.rows([:], order)
        (saved.chunks, saved.rows) = (saved.changes(to: first).chunks, first)
        let changes = saved.changes(to: Self.rows([500: 1], order))
        #expect(changes.records.map(\.key) == ["500"] && changes.removed.isEmpty && changes.written.isEmpty)
        var next = first
        next.insert(ResultRow(Record("1000", ["id": 1000])), at: 300)
        let inserted = saved.changes(to: next)
        #expect(inserted.records.count == 1 && inserted.removed.isEmpty && inserted.written.count == 1)
        let same = saved.changes(to: Self.rows([:], order))
        #expect(same.records.isEmpty && same.removed.isEmpty && same.written.isEmpty && same.chunks == saved.chunks)
    }

    @Test("has new places once a chunk finds none between two others")
    func noRoom() throws {
        var saved = SavedList(number: 1, isShaped: false)
        saved.rows = Self.rows([:], Array(0..<128))
        saved.chunks = [SavedList.Chunk(place: 5, count: 100), SavedList.Chunk(place: 6, count: 28)]
        var table = Table()
        table.chunks = [5: (0..<100).map(String.init), 6: (100..<128).map(String.init)]
        let order = Array(0..<50) + Array(200..<400) + Array(50..<128)
        let next = Self.rows([:], order)
        let changes = saved.changes(to: next)
        table.apply(changes, to: next)
        #expect(table.keys == order.map(String.init) && table.chunks.keys.sorted() == changes.chunks.map(\.place))
    }
}
