/// The keys a parser has met, so that the thousandth record's keys cost a comparison instead of a new string.
///
/// A slot is overwritten when two keys fall on it: a miss costs time, never correctness.
struct KeyCache: ~Copyable {
    private struct Slot {
        /// Where the key was first read; inside the text, which outlives the cache.
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        var string = ""
    }

    private static let slotCount = 64
    private var slots: [Slot] = []
    private var misses = 0

    @inline(__always)
    func find(_ bytes: UnsafePointer<UInt8>, count: Int, hash: UInt64) -> String? {
        guard !slots.isEmpty else { return nil }
        return slots.withUnsafeBufferPointer { slots in
            let slot = slots[Int(truncatingIfNeeded: hash >> 58)]
            guard slot.count == count, let known = slot.bytes, haveEqualBytes(known, bytes, count: count) else { return nil }
            return slot.string
        }
    }

    mutating func remember(_ string: String, bytes: UnsafePointer<UInt8>, count: Int, hash: UInt64) {
        misses += 1
        // A short text is read before the slots would pay for themselves.
        if misses == 8 { slots = Array(repeating: Slot(), count: Self.slotCount) }
        guard !slots.isEmpty else { return }
        slots[Int(truncatingIfNeeded: hash >> 58)] = Slot(bytes: bytes, count: count, string: string)
    }

    /// A hash that is quick on short keys; it need not resist attacks, since equality is always checked and the number of
    /// keys compared is bounded.
    @inline(__always)
    static func hash(_ bytes: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        let raw = UnsafeRawPointer(bytes)
        var hash = UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset &+ 8 <= count {
            hash = mix(hash, raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        var rest: UInt64 = 0
        if count &- offset >= 4 {
            rest = UInt64(raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            offset &+= 4
        }
        while offset < count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        return mix(hash, rest)
    }

    @inline(__always)
    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        return product ^ (product >> 29)
    }
}
