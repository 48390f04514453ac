import FeathersCore
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// The changes that turn a stored result into another one, judged by a dictionary of places.
@Suite("A stored result after any changes")
struct SavedResultTests {
    private static func rows(_ records: [Int: Int], _ order: [Int]) -> ResultRows {
        ResultRows(
            order.map {
                ResultRow(key: "\($0)", record: ["id": .integer(Int64($0)), "v": .integer(Int64(records[$0] ?? 0))])
            })
    }

    @Test("has the rows in the order of their places, and changes only what differs", arguments: 0..<40)
    func histories(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var versions: [Int: Int] = [:]
        var order: [Int] = []
        let first = Self.rows(versions, order)
        var saved = SavedResult(number: 1, rows: first, places: SavedResult.places(0))
        var table: [Int: ResultRow] = [:]
        var last = 0
        for _ in 0..<60 {
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
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
            let next = Self.rows(versions, order)
            let changes = try #require(saved.changes(to: next))
            let before = Dictionary(uniqueKeysWithValues: saved.rows.map { ($0.key, $0.record) })
            let changed = next.count { before[$0.key] != $0.record }
            #expect(changes.inserted.count <= changed + before.count)
            for place in changes.removed { #expect(table.removeValue(forKey: place) != nil) }
            for (place, row) in changes.inserted { #expect(table.updateValue(row, forKey: place) == nil) }
            saved = SavedResult(number: 1, rows: next, places: changes.places)
            #expect(table.keys.sorted() == changes.places)
            #expect(table.sorted { $0.key < $1.key }.map(\.value.record) == next.map(\.record))
        }
    }

    @Test("changes one row for one changed record, also after a fetch that has made all rows anew")
    func oneChange() throws {
        let order = Array(0..<1000)
        let saved = SavedResult(number: 1, rows: Self.rows([:], order), places: SavedResult.places(1000))
        let changes = try #require(saved.changes(to: Self.rows([500: 1], order)))
        #expect(changes.removed.count == 1 && changes.inserted.count == 1)
        let moved = try #require(saved.changes(to: Self.rows([:], [999] + order.dropLast())))
        // The row that is found first stays.
        #expect(moved.places.count == 1000)
        let same = try #require(saved.changes(to: Self.rows([:], order)))
        #expect(same.removed.isEmpty && same.inserted.isEmpty)
    }

    @Test("is stored anew once a row finds no place between two others")
    func noRoom() throws {
        var order = [0, 1]
        var saved = SavedResult(number: 1, rows: Self.rows([:], order), places: SavedResult.places(2))
        var count = 0
        while true {
            order.insert(count + 2, at: 1)
            let next = Self.rows([:], order)
            guard let changes = saved.changes(to: next) else { break }
            (saved, count) = (SavedResult(number: 1, rows: next, places: changes.places), count + 1)
        }
        #expect(count == 20)
    }
}
