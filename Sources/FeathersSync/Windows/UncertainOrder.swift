import FeathersCore

/// Records whose order only the server knows.
extension Window {
    /// Returns whether only the server knows on which side of its neighbors a record is in this sorted result.
    func hasUncertainPlace(_ record: JSONValue) -> Bool {
        let index = order.insertionIndex(for: record, in: known)
        return [index - 1, index].contains { index in
            known.indices.contains(index) && judge.hasUncertainOrder(record, known[index].record)
        }
    }
}

extension QueryJudge {
    /// Returns whether only the server knows on which side of the boundary a record is.
    func hasUncertainSide(_ record: JSONValue) -> Bool {
        guard let boundary, boundary.mayBeRounded else { return false }
        return sorter?.firstValue { record[$0] } == boundary
    }

    /// Returns whether only the server knows the order of two records: their times or fractional numbers are equal in
    /// JSON, but may not be on the server, or the forms of their values differ, so that they are not compared as the
    /// server compares them.
    func hasUncertainOrder(_ left: JSONValue, _ right: JSONValue) -> Bool {
        for sorter in sortersBeforeID {
            guard let left = sorter.firstValue(of: { left[$0] }), let right = sorter.firstValue(of: { right[$0] }),
                !left.isNull, !right.isNull
            else { return false }
            if left != right { return left.sortForm != right.sortForm }
            if left.mayBeRounded { return true }
        }
        return false
    }
}

extension JSONValue {
    /// The kind of a value that is sorted. Texts of dates in different formats, or zones, are of different kinds.
    fileprivate var sortForm: [UInt8] {
        switch self {
        case .integer, .number, .decimal: [1]
        case .string(let text) where text.startsWithDate: text.dateForm
        case .string: [2]
        case .bool: [3]
        case .null, .array, .object: [4]
        }
    }
}

extension String {
    /// The text of a date with zeros as its digits, except for those of the time zone.
    fileprivate var dateForm: [UInt8] {
        let zone = utf8.dropFirst(10).lastIndex { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        let end = zone ?? utf8.endIndex
        return utf8[..<end].map { $0.isDigit ? UInt8(ascii: "0") : $0 } + utf8[end...]
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
