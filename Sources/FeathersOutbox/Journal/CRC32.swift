/// The checksum of Ethernet and zip (CRC-32/ISO-HDLC): finds every change of one byte, and of up to 32 bits in a row.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { checksum, byte in table[Int(UInt8(truncatingIfNeeded: checksum) ^ byte)] ^ checksum >> 8 }
    }
}
