import Foundation

extension URL {
    /// The URL of a link, which may be relative.
    ///
    /// Servers write `?page[number]=2` as it is. Foundation refuses the brackets, or encodes them and the `%` of what is encoded already, so that
    /// what may not stand in a URL is encoded here, and nothing twice (RFC 3986, section 2).
    init?(link: String, relativeTo base: URL?) {
        let bytes = Array(link.utf8)
        let query = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isKept =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                // Before the query only an address of IP version 6 has them.
                case UInt8(ascii: "["), UInt8(ascii: "]"): index < query
                case UInt8(ascii: "%"): index + 2 < bytes.count && bytes[index + 1].isHexDigit && bytes[index + 2].isHexDigit
                default: "-._~:/?#@!$&'()*+,;=".utf8.contains(byte)
                }
            if isKept { text.append(byte) } else { text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        }
        guard let url = URL(string: String(decoding: text, as: UTF8.self), relativeTo: base)?.absoluteURL else { return nil }
        self = url
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
