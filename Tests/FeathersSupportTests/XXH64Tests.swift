import FeathersSupport
import Testing

@Suite("XXH64")
struct XXH64Tests {
    /// Hashes by the reference implementation (xxHash 0.8).
    @Test(
        "It is the hash of the reference implementation at every kind of length",
        arguments: [
            (0, 0xef46_db37_51d8_e999), (1, 0x2078_e1ad_38ad_738b), (3, 0x634d_95fc_01a1_89cd),
            (4, 0xeed3_4090_8a1a_c6c6),
            (7, 0x0da4_9362_1d6d_c898), (8, 0x76f9_16c7_bb52_3126), (12, 0xfb52_f89a_1dc4_49d2),
            (31, 0x65c5_feb0_1da7_464d),
            (32, 0x7665_c921_c9bf_2ec7), (33, 0xb5a9_d9ef_259a_e821), (64, 0xfff2_525c_99bf_2005),
            (71, 0x7b9d_c081_227f_f4c7),
            (100, 0x74e5_02db_362e_fd4c),
        ] as [(Int, UInt64)])
    func reference(_ count: Int, _ expected: UInt64) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 167 + 13) }
        for offset in 0..<9 {
            let shifted = [UInt8](repeating: 0, count: offset) + bytes
            #expect(XXH64.hash(of: shifted[offset...]) == expected)
        }
        #expect(XXH64.checksum(of: bytes) == UInt32(truncatingIfNeeded: expected))
    }
}
