import FeathersSupport
import Testing

@Suite("CRC-32")
struct CRC32Tests {
    @Test("Its check value is the one of the catalogue")
    func checkValue() {
        #expect(CRC32.checksum(of: Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(CRC32.checksum(of: []) == 0)
    }
}
