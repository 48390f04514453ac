/// The hash XXH64 (of xxHash, seed 0), to detect damaged files. It does not protect against deliberate changes.
///
/// A CRC-32 with 16 tables took 5% of the processors' time until the first snapshot of a kept result.
package enum XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    package static func checksum(of bytes: [UInt8]) -> UInt32 { checksum(of: bytes[...]) }

    /// Returns the lower half of the hash.
    package static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 { UInt32(truncatingIfNeeded: hash(of: bytes)) }

    package static func hash(of bytes: ArraySlice<UInt8>) -> UInt64 {
        // Unsafe buffers for speed: opening a file processes each of its bytes.
        bytes.withUnsafeBytes { bytes in
            func word(_ index: Int) -> UInt64 {
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            }
            var index = 0
            var hash = prime5
            if bytes.count >= 32 {
                var (first, second, third, fourth) = (prime1 &+ prime2, prime2, 0 as UInt64, 0 &- prime1)
                while index + 32 <= bytes.count {
                    first = round(first, word(index))
                    second = round(second, word(index + 8))
                    third = round(third, word(index + 16))
                    fourth = round(fourth, word(index + 24))
                    index += 32
                }
                hash = rotated(first, 1) &+ rotated(second, 7) &+ rotated(third, 12) &+ rotated(fourth, 18)
                for lane in [first, second, third, fourth] { hash = (hash ^ round(0, lane)) &* prime1 &+ prime4 }
            }
            hash &+= UInt64(bytes.count)
            while index + 8 <= bytes.count {
                hash = rotated(hash ^ round(0, word(index)), 27) &* prime1 &+ prime4
                index += 8
            }
            if index + 4 <= bytes.count {
                let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
                hash = rotated(hash ^ UInt64(half) &* prime1, 23) &* prime2 &+ prime3
                index += 4
            }
            for byte in bytes[index...] { hash = rotated(hash ^ UInt64(byte) &* prime5, 11) &* prime1 }
            hash = (hash ^ hash >> 33) &* prime2
            hash = (hash ^ hash >> 29) &* prime3
            return hash ^ hash >> 32
        }
    }

    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotated(lane &+ input &* prime2, 31) &* prime1
    }

    private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 { value << count | value >> (64 - count) }
}
