import FeathersCore
import Foundation

@testable import FeathersSync

extension RestoredList {
    /// A list from disk, with records that have changed since it was stored.
    static func sample(
        _ records: [JSONValue], newer: [JSONValue] = [], isSorted: Bool = true
    ) -> RestoredList {
        func key(_ record: JSONValue) -> String { record["id"]?.description ?? "" }
        let states = Dictionary(newer.map { (key($0), $0) }) { $1 }
        let rows = records.enumerated().map { index, record in
            ResultRow(
                Record(key(record), states[key(record)] ?? record), sortValue: record["id"],
                place: (index + 1) * Window.placeStep)
        }
        let head = ListHead(
            number: 1, change: 1, date: Date(), count: records.count, total: nil, limit: nil, growth: 0,
            isComplete: true, isSorted: isSorted, isShaped: false)
        return RestoredList(
            head: head, rows: ResultRows(rows), isWhole: true,
            newer: newer.map { Report(name: .patched, key: key($0), data: $0) })
    }
}
