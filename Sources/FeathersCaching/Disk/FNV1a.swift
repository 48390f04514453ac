/// The 64-bit FNV-1a hash: a checksum that any single changed byte changes. No protection against intent.
struct FNV1a {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ bytes: some Collection<UInt8>) {
        let added: Void? = bytes.withContiguousStorageIfAvailable { buffer in
            for byte in buffer { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        if added == nil { for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 } }
    }
}
