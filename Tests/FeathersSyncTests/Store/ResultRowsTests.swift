import FeathersCore
import FeathersTesting
import Testing

@testable import FeathersSync

@Suite("The rows of a live query")
struct ResultRowsTests {
    private static func row(_ number: Int) -> ResultRow {
        ResultRow(Record("\(number)", .integer(Int64(number))), place: number)
    }

    /// Rows by letters; the place of a row is that of its letter.
    private static func rows(_ letters: String, like old: [ResultRow] = []) -> [ResultRow] {
        letters.unicodeScalars.map { letter in old.first { $0.place == Int(letter.value) } ?? row(Int(letter.value)) }
    }

    @Test(
        "Only the ranges that differ are changes",
        arguments: [
            ("", "abc", 0, 3), ("abc", "", 3, 0), ("abc", "abxc", 0, 1), ("abc", "xabc", 0, 1), ("abc", "abcx", 0, 1),
            ("abc", "ac", 1, 0),
            ("abc", "bc", 1, 0), ("abc", "ab", 1, 0), ("abc", "axc", 1, 1), ("abcd", "adbc", 3, 3),
            ("abcd", "dcba", 4, 4),
            ("abc", "abc", 0, 0),
        ])
    func ranges(first: String, second: String, old: Int, new: Int) {
        let before = Self.rows(first)
        let changes = ResultRows(Self.rows(second, like: before)).changes(since: ResultRows(before))
        #expect(changes.map(\.old.count).reduce(0, +) == old && changes.map(\.new.count).reduce(0, +) == new)
    }

    @Test(
        "Random changes give what an array gives; copies keep what they had; and the changes lead from one to the other"
    )
    func histories() {
        for seed in 0..<12 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var version = Int.random(in: 0...3000, using: &random)
            var expected = (0..<version).map(Self.row)
            var rows = ResultRows(expected)
            var (delivered, deliveredArray) = (rows, expected)
            for step in 0..<1500 {
                // Grows in even histories, and shrinks in odd ones until little is left.
                let grows = Int.random(in: 0..<10, using: &random) < (seed % 2 == 0 ? 6 : 3)
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where !expected.isEmpty:
                    let index = Int.random(in: expected.indices, using: &random)
                    version += 1
                    expected[index] = Self.row(version)
                    rows.replace(index, with: expected[index])
                case 1 where step % 100 == 0:
                    let divisor = Int.random(in: 2...5, using: &random)
                    expected.removeAll { $0.place % divisor == 0 }
                    rows.removeAll { $0.place % divisor == 0 }
                default:
                    if grows || expected.isEmpty {
                        version += 1
                        let index = Int.random(in: 0...expected.count, using: &random)
                        expected.insert(Self.row(version), at: index)
                        rows.insert(expected[index], at: index)
                    } else {
                        let index = Int.random(in: expected.indices, using: &random)
                        expected.remove(at: index)
                        rows.remove(at: index)
                    }
                }
                guard step % 25 == 0 else { continue }
                #expect(rows.elementsEqual(expected) { $0 === $1 } && rows.count == expected.count)
                #expect(rows.indices.allSatisfy { rows[$0] === expected[$0] })
                let limit = Int.random(in: 0...expected.count + 1, using: &random)
                #expect(rows.limited(to: limit).elementsEqual(expected.prefix(limit)) { $0 === $1 })
                #expect(delivered.elementsEqual(deliveredArray) { $0 === $1 })
                let changes = rows.changes(since: delivered)
                var made = deliveredArray
                for change in changes.reversed() { made.replaceSubrange(change.old, with: expected[change.new]) }
                #expect(made.elementsEqual(expected) { $0 === $1 })
                (delivered, deliveredArray) = (rows, expected)
            }
        }
    }

    @Test("A long list that is built from one row, and taken apart, gives what an array gives")
    func growth() {
        var random = SeededGenerator(seed: 1)
        var (rows, expected) = (ResultRows(), [ResultRow]())
        for version in 0..<5_000 {
            // Appended, put first, or anywhere.
            let index = [expected.count, 0, Int.random(in: 0...expected.count, using: &random)][version / 1_000 % 3]
            expected.insert(Self.row(version), at: index)
            rows.insert(expected[index], at: index)
        }
        #expect(rows.elementsEqual(expected) { $0 === $1 } && rows.indices.allSatisfy { rows[$0] === expected[$0] })
        while !expected.isEmpty {
            let index = [expected.count - 1, 0, Int.random(in: expected.indices, using: &random)][
                expected.count / 1_000 % 3]
            expected.remove(at: index)
            rows.remove(at: index)
            guard expected.count % 250 == 0 else { continue }
            #expect(rows.elementsEqual(expected) { $0 === $1 })
        }
        rows.insert(Self.row(0), at: 0)
        #expect(rows.count == 1 && rows.first?.place == 0)
    }

    @Test("A whole list that is new, or gone, is one change", arguments: [1, 24, 25, 600, 5_000])
    func replacement(count: Int) {
        let (old, new) = (ResultRows((0..<count).map(Self.row)), ResultRows((0..<count + 30).map(Self.row)))
        #expect(new.changes(since: old) == [.init(old: 0..<count, new: 0..<count + 30)])
        #expect(new.changes(since: ResultRows()) == [.init(old: 0..<0, new: 0..<count + 30)])
        #expect(ResultRows().changes(since: old) == [.init(old: 0..<count, new: 0..<0)])
    }

    @Test("A change in a long list is found, also if the record moves far")
    func locality() {
        let all = (0..<100_000).map(Self.row)
        let old = ResultRows(all)
        var rows = old
        rows.remove(at: 70_000)
        rows.insert(Self.row(100_000), at: 10)
        #expect(
            rows.changes(since: old) == [
                .init(old: 10..<10, new: 10..<11), .init(old: 70_000..<70_001, new: 70_001..<70_001),
            ])
    }

    @Test("A row at the front of a list that was fetched anew is the only change")
    func shifted() {
        let all = (0..<1_000).map(Self.row)
        #expect(ResultRows([Self.row(5_000)] + all).changes(since: ResultRows(all)) == [.init(old: 0..<0, new: 0..<1)])
    }

    @Test("Changes are found where parts have been split and joined, without those in between")
    func splits() {
        let old = ResultRows((0..<100_000).map(Self.row))
        var rows = old
        for index in 0..<100 { rows.insert(Self.row(200_000 + index), at: 50_000 + index) }
        for _ in 0..<100 { rows.remove(at: 20_000) }
        rows.replace(99_999, with: Self.row(300_000))
        let changes: [ResultRows.Change] = [
            .init(old: 20_000..<20_100, new: 20_000..<20_000), .init(old: 50_000..<50_000, new: 49_900..<50_000),
            .init(old: 99_999..<100_000, new: 99_999..<100_000),
        ]
        #expect(rows.changes(since: old) == changes)
    }

    @Test(
        "Bisection finds the end of the rows that meet a condition",
        arguments: [0, 1, 23, 24, 25, 32, 33, 576, 577, 1000, 20_000])
    func bisection(count: Int) {
        let rows = ResultRows((0..<count).map(Self.row))
        for end in stride(from: 0, through: count, by: max(count / 50, 1)) {
            #expect(rows.partitionIndex { $0.place < end } == end)
        }
        #expect(rows.partitionIndex { _ in true } == count)
    }

    // MARK: What is delivered

    @Test("A record that changes its place between others is a move, whatever the distance")
    func moves() {
        let all = (0..<2000).map(Self.row)
        let old = ResultRows(all)
        var rows = old
        rows.remove(at: 1500)
        rows.insert(ResultRow(Record("1500", .null), place: 5000), at: 3)
        rows.remove(at: 800)
        rows.insert(Self.row(6000), at: 1900)
        let difference = LiveDifference(
            rows.changes(since: old), of: rows, since: old, firstKeys: FirstKeys())
        let changes = LiveChanges(difference)
        #expect(changes.moves == [LiveChanges.Move(from: 1500, to: 3)])
        #expect(changes.removals == [799] && changes.insertions == [1900] && changes.updates == [3])
    }
}
