import FeathersCore
import Testing

@testable import FeathersSync

@Suite("The lists of a live snapshot")
struct LiveListTests {
    private static func rows(_ count: Int, state: RecordState = .confirmed) -> ResultRows {
        ResultRows((0..<count).map { ResultRow(Record("\($0)", .integer(Int64($0))), writeState: state) })
    }

    private static func keys(_ rows: ResultRows) -> LiveList<String> { LiveList(rows) { $0.key } }

    @Test("A list is equal to one with equal elements, and can be written as a literal")
    func equality() {
        let list = Self.keys(Self.rows(3))
        #expect(list == ["0", "1", "2"] && list != ["0", "1"] && list != ["0", "1", "3"])
        #expect(Self.keys(ResultRows()) == [] && list.description == #"["0", "1", "2"]"#)
    }

    @Test(
        "A list has the elements of an array, by index, in loops, in slices and from its end",
        arguments: [0, 1, 24, 25, 1_000, 20_000])
    func collection(count: Int) {
        let (list, array) = (Self.keys(Self.rows(count)), (0..<count).map { "\($0)" })
        #expect(list.count == count && Array(list) == array && list.indices.map { list[$0] } == array)
        #expect(list.first == array.first && list.last == array.last && list.reversed() == array.reversed())
        #expect(list.dropFirst(count / 3).prefix(30).elementsEqual(array.dropFirst(count / 3).prefix(30)))
        #expect(
            list.map(\.count) == array.map(\.count)
                && list.firstIndex(of: "\(count / 2)") == array.firstIndex(of: "\(count / 2)"))
    }

    @Test("A list keeps its elements while the rows change that it was made from")
    func independence() {
        var rows = Self.rows(5_000)
        let list = Self.keys(rows)
        for _ in 0..<2_500 { rows.remove(at: 1_000) }
        rows.replace(0, with: ResultRow(Record("changed", .null)))
        #expect(Array(list) == (0..<5_000).map { "\($0)" } && Self.keys(rows).first == "changed" && rows.count == 2_500)
    }

    @Test("An element is decoded once, and the record itself if nothing is decoded")
    func elements() {
        let row = ResultRow(Record("1", ["text": "Hello"]))
        #expect(
            row.element(as: JSONValue.self) == ["text": "Hello"] && row.element(as: String.self) == nil
                && !row.isDecoded)
        row.decoded(as: "first")
        row.decoded(as: "second")
        #expect(row.isDecoded && row.element(as: String.self) == "first" && row.element(as: Int.self) == nil)
        #expect(row.moved(to: 7).element(as: String.self) == "first" && row.moved(to: 7).place == 7)
    }
}
