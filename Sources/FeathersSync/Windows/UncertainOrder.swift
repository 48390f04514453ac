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
        guard let boundary, boundary.isRounded else { return false }
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
            if left.isRounded { return true }
        }
        return false
    }
}

extension JSONValue {
    /// The kind of a value that is sorted. Texts of dates in different formats are of different kinds.
    fileprivate var sortForm: [UInt8] {
        switch self {
        case .integer, .number, .decimal: [1]
        case .string(let text) where text.startsWithDate: text.utf8.map { $0.isDigit ? UInt8(ascii: "0") : $0 }
        case .string: [2]
        case .bool: [3]
        case .null, .array, .object: [4]
        }
    }

    /// Whether the value may have lost digits on its way into JSON.
    fileprivate var isRounded: Bool {
        switch self {
        case .number, .decimal: true
        case .string(let text): text.startsWithDate
        case .integer, .bool, .null, .array, .object: false
        }
    }
}

extension String {
    /// Whether the text begins with a year and a hyphen.
    fileprivate var startsWithDate: Bool {
        let start = utf8.prefix(5)
        return start.count == 5 && start.last == UInt8(ascii: "-") && start.dropLast().allSatisfy(\.isDigit)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
