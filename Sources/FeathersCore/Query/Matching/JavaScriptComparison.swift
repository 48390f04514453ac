/// Returns whether two values are equal in a Feathers query. Like JavaScript's `===`, except that arrays and objects
/// are compared by their contents, and a missing value (nil) equals null.
func areEqualInQueries(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
    switch (left ?? .null, right ?? .null) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.string(let left), .string(let right)): return left.isExactly(right)
    case (.array(let left), .array(let right)):
        return left.count == right.count && zip(left, right).allSatisfy { areEqualInQueries($0, $1) }
    case (.object(let left), .object(let right)):
        // A key that is null on the left and missing on the right counts as equal, as in FeathersJS.
        return left.count == right.count && left.allSatisfy { areEqualInQueries($0.value, right[$0.key]) }
    // Numbers are compared by their digits, so that ids beyond 2^53 differ.
    case (let left, let right): return left.numericOrder(to: right) == 0
    }
}

/// Compares two values of any type in FeathersJS' sort order. Returns a negative number, zero or a positive number. A
/// missing value is nil.
func sortingOrder(_ left: JSONValue?, _ right: JSONValue?) -> Int {
    guard let left, let right else { return left == nil ? (right == nil ? 0 : -1) : 1 }
    switch (left, right) {
    case (.string(let left), .string(let right)): return left.codeUnitOrder(to: right)
    case (.bool(let left), .bool(let right)): return (left ? 1 : 0) - (right ? 1 : 0)
    case (.array(let left), .array(let right)):
        for (left, right) in zip(left, right) {
            let order = sortingOrder(left, right)
            if order != 0 { return order }
        }
        return left.count - right.count
    case (.object(let left), .object(let right)): return sortingOrder(left, right)
    default: return left.numericOrder(to: right) ?? left.rankInSorting - right.rankInSorting
    }
}

/// Compares objects by their values in the alphabetical order of their keys, then by the number of keys. The key names
/// do not matter.
private func sortingOrder(_ left: JSONObject, _ right: JSONObject) -> Int {
    for (left, right) in zip(left.valuesByKey, right.valuesByKey) {
        let order = sortingOrder(left, right)
        if order != 0 { return order }
    }
    return left.count - right.count
}

extension JSONObject {
    fileprivate var valuesByKey: [JSONValue] { sorted { $0.key.codeUnitOrder(to: $1.key) < 0 }.map(\.value) }
}

extension JSONValue {
    fileprivate var rankInSorting: Int {
        switch self {
        case .null: 0
        case .integer, .number, .decimal: 1
        case .string: 2
        case .bool: 3
        case .array: 4
        case .object: 5
        }
    }
}

extension String {
    /// Compares by UTF-16 code units, like JavaScript. Returns a negative number, zero or a positive number.
    ///
    /// Swift's own order treats canonically equivalent strings as equal, but JavaScript's does not. UTF-8 bytes sort by
    /// code point, which differs from UTF-16 in only one case: the surrogates of characters beyond U+FFFF (four bytes,
    /// 0xF0 and up) sort before U+E000…U+FFFF (three bytes, 0xEE and 0xEF).
    func codeUnitOrder(to other: String) -> Int {
        let fast = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in Self.order(of: left, to: right) }
        }
        if case .some(.some(let order)) = fast { return order }
        return Self.order(of: Array(utf8), to: Array(other.utf8))
    }

    private static func order<Bytes: RandomAccessCollection<UInt8>>(of left: Bytes, to right: Bytes) -> Int
    where Bytes.Index == Int {
        let common = Swift.min(left.count, right.count)
        var offset = 0
        while offset < common {
            let (first, second) = (left[offset], right[offset])
            if first != second {
                // The order is reversed in the one case where UTF-8 and UTF-16 differ.
                let (lower, upper) = (Swift.min(first, second), Swift.max(first, second))
                let isSurrogateCase = lower >= 0xEE && lower < 0xF0 && upper >= 0xF0
                return (first < second) != isSurrogateCase ? -1 : 1
            }
            offset += 1
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }
}
