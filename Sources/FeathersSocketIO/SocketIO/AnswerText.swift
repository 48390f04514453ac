import FeathersCore

/// Where the result stands in the acknowledgement of a call that succeeded, `3<id>[null,<result>]`, found without reading the result.
struct AnswerText {
    /// How many bytes a packet has at least; smaller ones are read as any other, without a look at who waits for them.
    static let minimumSize = 256

    let id: Int
    private let packet: String
    private let result: Range<Int>

    /// nil where the packet is anything else, or small.
    init?(in packet: String, namespace: String) {
        guard packet.utf8.count >= Self.minimumSize else { return nil }
        var packet = packet
        let found: (id: Int, result: Range<Int>)? = packet.withUTF8 { bytes in
            var cursor = bytes[...]
            guard cursor.skip("3"), namespace == SocketPacket.mainNamespace || cursor.skip(namespace) && cursor.skip(","),
                let id = cursor.skipNumber(), cursor.skip("[null,"), cursor.last == UInt8(ascii: "]")
            else { return nil }
            return (id, cursor.startIndex..<cursor.endIndex - 1)
        }
        guard let found else { return nil }
        (id, result) = found
        self.packet = packet
    }

    /// The result, checked and marked; nil where it is no JSON, or its tree serves better.
    func marked() -> JSONTape? {
        var packet = packet
        return packet.withUTF8 { bytes in try? JSONTape.marking(UnsafeBufferPointer(rebasing: bytes[result])) }
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// Leaves out what it begins with, if that is a text.
    fileprivate mutating func skip(_ text: String) -> Bool {
        guard starts(with: text.utf8) else { return false }
        self = dropFirst(text.utf8.count)
        return true
    }

    /// Leaves out the digits it begins with; nil where there are none, or too many.
    fileprivate mutating func skipNumber() -> Int? {
        let digits = prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        self = dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
