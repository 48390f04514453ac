extension String {
    /// Compares as JavaScript does, by UTF-16 code units: below zero, zero or above zero.
    ///
    /// Swift's own order takes canonically equal strings for one, JavaScript's does not. UTF-8 bytes sort by code point,
    /// which differs from UTF-16 in one place only: the surrogates of what lies beyond U+FFFF (four bytes, 0xF0 and up)
    /// come before U+E000…U+FFFF (three bytes, 0xEE and 0xEF).
    func codeUnitOrder(to other: String) -> Int {
        let fast = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in Self.order(of: left, to: right) }
        }
        if case .some(.some(let order)) = fast { return order }
        return Self.order(of: Array(utf8), to: Array(other.utf8))
    }

    private static func order<Bytes: RandomAccessCollection<UInt8>>(of left: Bytes, to right: Bytes) -> Int where Bytes.Index == Int {
        let common = Swift.min(left.count, right.count)
        var offset = 0
        while offset < common {
            let (first, second) = (left[offset], right[offset])
            if first != second {
                // Moved behind everything else in the one case where the orders differ.
                let (lower, upper) = (Swift.min(first, second), Swift.max(first, second))
                let isSurrogateCase = lower >= 0xEE && lower < 0xF0 && upper >= 0xF0
                return (first < second) != isSurrogateCase ? -1 : 1
            }
            offset += 1
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }
}
