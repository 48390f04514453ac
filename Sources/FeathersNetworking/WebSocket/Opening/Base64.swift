/// Base64 (RFC 4648, section 4), for files that import nothing.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

    static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        let bytes = Array(bytes)
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0...3 {
                text.append(position <= group.count ? alphabet[bits >> (18 - 6 * position) & 63] : "=")
            }
        }
        return text
    }
}
