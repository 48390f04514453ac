/// Where the first ill-formed UTF-8 sequence begins, or `count` if there is none (Unicode, table 3-7).
func firstIllFormedIndex(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var index = 0
    let raw = UnsafeRawBufferPointer(bytes)
    while index < bytes.count {
        // Most of a text that is not ASCII is.
        if index + 8 <= bytes.count, raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
            index += 8
            continue
        }
        let length: Int
        // The second byte's range is what rules out overlong forms, surrogates and values above U+10FFFF.
        let second: ClosedRange<UInt8>
        switch bytes[index] {
        case 0x00...0x7F: (length, second) = (1, 0x80...0xBF)
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return index
        }
        guard index + length <= bytes.count else { return index }
        if length > 1, !second.contains(bytes[index + 1]) { return index }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return index }
        index += length
    }
    return index
}
