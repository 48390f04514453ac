// Locks: Values without a lock: each is read by one task at a time, or decoded once and then immutable.

import FeathersCore

/// The records or rows of a live query: a collection that shares its unchanged parts with the previous ones.
///
/// Use it like an array. Creating and copying it take the same time for any number of records; `Array(records)` makes
/// an array if you need one.
public struct LiveList<Element: Sendable>: RandomAccessCollection, Sendable {
    let resultRows: ResultRows
    private let read: @Sendable (ResultRow) -> Element

    init(_ rows: ResultRows, _ read: @escaping @Sendable (ResultRow) -> Element) {
        (self.resultRows, self.read) = (rows, read)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { resultRows.count }
    public subscript(position: Int) -> Element { read(resultRows[position]) }

    /// Returns the element of a row.
    func element(of row: ResultRow) -> Element { read(row) }
}

extension LiveList: Equatable where Element: Equatable {
    public static func == (left: LiveList, right: LiveList) -> Bool { left.elementsEqual(right) }
}

extension LiveList: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Element...) {
        self.init(ResultRows(elements.indices.map { ResultRow(Record("", .null), place: $0) })) {
            elements[$0.place]
        }
    }
}

extension LiveList: CustomStringConvertible {
    public var description: String { Array(self).description }
}
