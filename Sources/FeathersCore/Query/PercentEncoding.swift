/// Percent-encoding of strings as UTF-8, as in `qs` and JavaScript's `encodeURIComponent`.
enum PercentEncoding {
    /// Appends `string`, with each byte outside `characters` as `%XX`.
    static func append(_ string: String, keeping characters: URLCharacters, to bytes: inout [UInt8]) {
        let isDone: Void? = string.utf8.withContiguousStorageIfAvailable { append($0, keeping: characters, to: &bytes) }
        if isDone == nil { append(Array(string.utf8), keeping: characters, to: &bytes) }
    }

    private static func append(
        _ text: some Collection<UInt8>, keeping characters: URLCharacters, to bytes: inout [UInt8]
    ) {
        // Most keys and values need no escaping.
        if text.allSatisfy(characters.contains) {
            bytes.append(contentsOf: text)
            return
        }
        for byte in text {
            if characters.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 15))
            }
        }
    }

    @inline(__always)
    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "A") &- 10 &+ value
    }
}

/// Encodes a string like JavaScript's `encodeURIComponent`, for ids and values in the path of a URL.
package func percentEncoded(component: String) -> String {
    if component.utf8.allSatisfy({ URLCharacters.uriComponent.contains($0) }) { return component }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(component.utf8.count + 8)
    PercentEncoding.append(component, keeping: .uriComponent, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}

/// A set of ASCII characters that need no escaping in a URL, stored as two words of bits.
struct URLCharacters: Sendable {
    private var lower: UInt64 = 0
    private var upper: UInt64 = 0

    /// The characters that `qs` does not escape: the unreserved characters of RFC 3986.
    static let unreserved = URLCharacters(lettersAndDigitsAnd: "-._~")
    /// The characters that `encodeURIComponent` does not escape.
    static let uriComponent = URLCharacters(lettersAndDigitsAnd: "-._~!*'()")

    private init(lettersAndDigitsAnd others: String) {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        for byte in (letters + letters.uppercased() + "0123456789" + others).utf8 {
            if byte < 64 { lower |= 1 << UInt64(byte) } else { upper |= 1 << UInt64(byte - 64) }
        }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return lower &>> UInt64(byte) & 1 == 1 }
        return byte < 128 && upper &>> UInt64(byte &- 64) & 1 == 1
    }
}
