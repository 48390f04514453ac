extension String {
    /// Returns whether both strings have the same sequence of UTF-8 bytes.
    ///
    /// Swift's own `==` treats a composed and a decomposed "é" as equal. JavaScript compares code units, and so does
    /// this library for JSON keys and strings.
    @inlinable @inline(__always)
    package func isExactly(_ other: String) -> Bool {
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        let contiguous = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return true }
                return haveEqualBytes(left, right, count: count)
            }
        }
        if case .some(.some(let equal)) = contiguous { return equal }
        return utf8.elementsEqual(other.utf8)
    }

    /// Returns whether the string has exactly these UTF-8 bytes.
    func isExactly(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count == utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { own in
            guard let left = own.baseAddress, let right = bytes.baseAddress else { return true }
            return haveEqualBytes(left, right, count: bytes.count)
        }
        return isEqual ?? utf8.elementsEqual(bytes)
    }

    /// Hashes the bytes that `isExactly` compares.
    package func hashExactly(into hasher: inout Hasher) {
        let hashed: Void? = utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if hashed == nil { Array(utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
        // A terminator makes ["ab", "c"] and ["a", "bc"] hash differently.
        hasher.combine(0xFF as UInt8)
    }
}

/// Text as a key that is equal only to text with the same UTF-8 bytes.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.isExactly(right.text) }

    package func hash(into hasher: inout Hasher) { text.hashExactly(into: &hasher) }
}

/// Compares `count` bytes, eight at a time.
@inlinable @inline(__always)
package func haveEqualBytes(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
    let left = UnsafeRawPointer(left)
    let right = UnsafeRawPointer(right)
    var offset = 0
    while offset &+ 8 <= count {
        let word = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        if word != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
        offset &+= 8
    }
    while offset < count {
        if left.load(fromByteOffset: offset, as: UInt8.self) != right.load(fromByteOffset: offset, as: UInt8.self) {
            return false
        }
        offset &+= 1
    }
    return true
}
