/// The keys and short strings that a parser has made, so that those of later records cost a comparison instead of a new
/// string.
struct StringCache: ~Copyable {
    private var keys = Slots(bits: 6)
    private var values = Slots(bits: 9)
    /// The number of values that were found in the cache.
    private var repetitions = 0

    struct Key {
        let string: String
        let hash: UInt64

        init(_ string: String, hash: UInt64) { (self.string, self.hash) = (string, hash) }

        /// Creates a key that is not in the text as it is, and so not in the cache.
        init(unescaped: String) {
            var string = unescaped
            hash = string.withUTF8 { bytes in bytes.baseAddress.map { Slots.hash($0, count: bytes.count) } ?? 0 }
            self.string = string
        }
    }

    /// Returns the key with these bytes; nil if they are not UTF-8.
    mutating func key(_ bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool) -> Key? {
        guard let start = bytes.baseAddress else { return Key("", hash: 0) }
        let hash = Slots.hash(start, count: bytes.count)
        if let known = keys.find(start, count: bytes.count, hash: hash) { return Key(known, hash: hash) }
        guard let string = String(utf8: bytes, isASCII: isASCII) else { return nil }
        keys.remember(string, bytes: start, count: bytes.count, hash: hash)
        return Key(string, hash: hash)
    }

    /// Returns the string with these bytes; nil if they are not UTF-8.
    mutating func value(_ bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool) -> String? {
        // The records of a list often have the same authors or times, whose strings then share their memory. A shorter
        // string needs no memory, and a longer one rarely repeats. If few strings repeat, looking them up costs more
        // than it saves.
        guard 16...64 ~= bytes.count, values.misses < 256 || repetitions > values.misses / 8,
            let start = bytes.baseAddress
        else {
            return String(utf8: bytes, isASCII: isASCII)
        }
        let hash = Slots.hash(start, count: bytes.count)
        if let known = values.find(start, count: bytes.count, hash: hash) {
            repetitions += 1
            return known
        }
        guard let string = String(utf8: bytes, isASCII: isASCII) else { return nil }
        values.remember(string, bytes: start, count: bytes.count, hash: hash)
        return string
    }

    /// Two strings with the same slot overwrite each other: a miss costs time but never correctness.
    private struct Slots {
        struct Slot {
            /// The string in the text, which outlives the cache.
            var bytes: UnsafePointer<UInt8>?
            var count = 0
            var string = ""
        }

        /// The number of bits of a hash that choose the slot.
        private let bits: UInt64
        private var slots: [Slot] = []
        private(set) var misses = 0

        init(bits: UInt64) { self.bits = bits }

        @inline(__always)
        func find(_ bytes: UnsafePointer<UInt8>, count: Int, hash: UInt64) -> String? {
            guard !slots.isEmpty else { return nil }
            return slots.withUnsafeBufferPointer { slots in
                let slot = slots[Int(truncatingIfNeeded: hash >> (64 &- bits))]
                guard slot.count == count, let known = slot.bytes, haveEqualBytes(known, bytes, count: count) else {
                    return nil
                }
                return slot.string
            }
        }

        mutating func remember(_ string: String, bytes: UnsafePointer<UInt8>, count: Int, hash: UInt64) {
            misses += 1
            // For short texts, allocating the slots costs more than it saves.
            if misses == 1 << bits / 8 { slots = Array(repeating: Slot(), count: 1 << bits) }
            guard !slots.isEmpty else { return }
            slots[Int(truncatingIfNeeded: hash >> (64 &- bits))] = Slot(bytes: bytes, count: count, string: string)
        }

        /// Returns a hash that is fast for short keys. It need not resist attacks, because equality is always checked
        /// and the number of keys compared is bounded.
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
}
