/// Percent-encodes a string byte by byte, which is what both of JavaScript's ways into a URL do.
enum PercentEncoding {
    /// What `qs` leaves alone: RFC 3986's unreserved characters.
    static let unreserved = table(keeping: "-._~")

    /// What `encodeURIComponent` leaves alone.
    static let uriComponent = table(keeping: "-._~!*'()")

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// A table that tells for each byte whether it is written as it is: letters, digits and `others`.
    private static func table(keeping others: String) -> [Bool] {
        var table = [Bool](repeating: false, count: 256)
        for byte in UInt8(ascii: "0")...UInt8(ascii: "9") { table[Int(byte)] = true }
        for byte in UInt8(ascii: "A")...UInt8(ascii: "Z") { table[Int(byte)] = true }
        for byte in UInt8(ascii: "a")...UInt8(ascii: "z") { table[Int(byte)] = true }
        for byte in others.utf8 { table[Int(byte)] = true }
        return table
    }

    /// Appends `string`, each byte outside `table` as `%XX`.
    static func append(_ string: String, keeping table: [Bool], to bytes: inout [UInt8]) {
        for byte in string.utf8 {
            if table[Int(byte)] {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigits[Int(byte >> 4)])
                bytes.append(hexDigits[Int(byte & 15)])
            }
        }
    }

    /// The string behind percent-encoded bytes, `+` read as a space, as `qs` does; nil where that is no UTF-8.
    static func decode(_ encoded: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var pending = Array(encoded)[...]
        while let byte = pending.popFirst() {
            if byte == UInt8(ascii: "%"), let high = pending.first.flatMap(hexValue),
                let low = pending.dropFirst().first.flatMap(hexValue)
            {
                bytes.append(high << 4 | low)
                pending.removeFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

/// A string as one piece of a URL's path, encoded as JavaScript's `encodeURIComponent` does: for ids and route values.
package func percentEncoded(component: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(component.utf8.count + 8)
    PercentEncoding.append(component, keeping: PercentEncoding.uriComponent, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}
