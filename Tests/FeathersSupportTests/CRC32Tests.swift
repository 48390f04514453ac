import FeathersSupport
import Testing

@Suite("CRC-32")
struct CRC32Tests {
    @Test("Its check value is the one of the catalogue")
    func checkValue() {
        #expect(CRC32.checksum(of: Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(CRC32.checksum(of: []) == 0)
    }

    @Test("It is the remainder of the polynomial at every length and offset, so also where several bytes are processed at once")
    func definition() {
        let bytes = (0..<64).map { UInt8(truncatingIfNeeded: $0 * 167 + 13) }
        for start in 0..<9 {
            for end in start...bytes.count {
                var expected = ~0 as UInt32
                for byte in bytes[start..<end] {
                    expected ^= UInt32(byte)
                    for _ in 0..<8 { expected = expected & 1 == 1 ? 0xEDB8_8320 ^ expected >> 1 : expected >> 1 }
                }
                #expect(CRC32.checksum(of: bytes[start..<end]) == ~expected)
            }
        }
    }
}
