/// SHA-256 (FIPS 180-4), for file names that a server cannot make collide, and for digests of credentials.
///
/// Foundation has no implementation on Linux, and 70 lines do not justify a dependency.
package enum SHA256 {
    /// Returns the digest of bytes in hexadecimal digits.
    @inlinable
    package static func hex(_ bytes: some Collection<UInt8>) -> String {
        var message: [UInt8] = []
        // With room for the padding.
        message.reserveCapacity(bytes.count + 72)
        message.append(contentsOf: bytes)
        return hex(message: message)
    }

    @usableFromInline
    static func hex(message: consuming [UInt8]) -> String {
        let hash = digest(message)
        return String(unsafeUninitializedCapacity: 64) { text in
            for index in 0..<64 {
                let digit = UInt8(truncatingIfNeeded: hash[index / 8] >> UInt32(28 - index % 8 * 4)) & 15
                text[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 64
        }
    }

    private static func digest(_ message: consuming [UInt8]) -> [UInt32] {
        let bitCount = UInt64(message.count) * 8
        message.append(0x80)
        message.append(contentsOf: repeatElement(0, count: (120 - message.count % 64) % 64))
        withUnsafeBytes(of: bitCount.bigEndian) { message.append(contentsOf: $0) }

        var hash = initialHash
        // Unsafe buffers for speed: every read of a disk cache computes a digest, which took as long as the rest of the
        // read.
        message.withUnsafeBytes { message in
            hash.withUnsafeMutableBufferPointer { hash in
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                    roundConstants.withUnsafeBufferPointer { constants in
                        for start in stride(from: 0, to: message.count, by: 64) {
                            absorb(
                                UnsafeRawBufferPointer(rebasing: message[start..<start + 64]), into: hash, schedule,
                                constants)
                        }
                    }
                }
            }
        }
        return hash
    }

    private static func absorb(
        _ block: UnsafeRawBufferPointer, into hash: UnsafeMutableBufferPointer<UInt32>,
        _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ constants: UnsafeBufferPointer<UInt32>
    ) {
        for index in 0..<16 {
            schedule[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
        }
        for index in 16..<64 {
            let (early, late) = (schedule[index - 15], schedule[index - 2])
            let small = early.rotated(7) ^ early.rotated(18) ^ (early >> 3)
            let large = late.rotated(17) ^ late.rotated(19) ^ (late >> 10)
            schedule[index] = schedule[index - 16] &+ small &+ schedule[index - 7] &+ large
        }
        var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
        var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
        for index in 0..<64 {
            let choice = (e & f) ^ (~e & g)
            let first =
                h &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ choice &+ constants[index] &+ schedule[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ majority
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        (hash[0], hash[1], hash[2], hash[3]) = (hash[0] &+ a, hash[1] &+ b, hash[2] &+ c, hash[3] &+ d)
        (hash[4], hash[5], hash[6], hash[7]) = (hash[4] &+ e, hash[5] &+ f, hash[6] &+ g, hash[7] &+ h)
    }

    /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    private static let initialHash: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let roundConstants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
