import FeathersCore

/// The records of a live query or their states: a collection that shares its unchanged parts with the previous ones.
///
/// Use it like an array. Creating and copying it take the same time for any number of records; `Array(records)` makes
/// an array if you need one.
public struct LiveList<Element: Sendable>: RandomAccessCollection, Sendable {
    let rows: LiveRows
    private let read: @Sendable (LiveRow) -> Element

    init(_ rows: LiveRows, _ read: @escaping @Sendable (LiveRow) -> Element) { (self.rows, self.read) = (rows, read) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }
    public subscript(position: Int) -> Element { read(rows[position]) }
}

extension LiveList where Element == RecordState {
    /// Whether any record has a write that the server has not confirmed.
    var isAnyUnconfirmed: Bool { rows.contains { $0.state != .confirmed } }
}

extension LiveList: Equatable where Element: Equatable {
    public static func == (left: LiveList, right: LiveList) -> Bool { left.elementsEqual(right) }
}

extension LiveList: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Element...) {
        self.init(LiveRows(elements.indices.map { LiveRow(key: "", record: .null, place: $0) })) { elements[$0.place] }
    }
}

extension LiveList: CustomStringConvertible {
    public var description: String { Array(self).description }
}
