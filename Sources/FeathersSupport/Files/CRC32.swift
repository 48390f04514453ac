/// The checksum of Ethernet and zip (CRC-32/ISO-HDLC). It detects every change of one byte, and of up to 32 consecutive bits.
///
/// It does not protect against deliberate changes.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    package static func checksum(of bytes: [UInt8]) -> UInt32 { checksum(of: bytes[...]) }

    package static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
        // Unsafe buffers for speed: opening a file processes each of its bytes.
        bytes.withUnsafeBufferPointer { bytes in
            table.withUnsafeBufferPointer { table in
                var checksum = ~0 as UInt32
                for byte in bytes { checksum = table[Int(UInt8(truncatingIfNeeded: checksum) ^ byte)] ^ checksum >> 8 }
                return ~checksum
            }
        }
    }
}
