/// A frame as a server writes it, or as one should not: independent of the code under test.
struct ServerFrame {
    var opcode: UInt8
    var payload: [UInt8] = []
    var isFinal = true
    var reserved: UInt8 = 0
    var isMasked = false
    /// How the length is written: the short form, 126 with two bytes, 127 with eight.
    var form: Form?
    /// A length other than the payload's.
    var statedLength: UInt64?

    enum Form { case short, two, eight }

    var bytes: [UInt8] {
        let length = statedLength ?? UInt64(payload.count)
        let form = form ?? (length < 126 ? .short : length < 65536 ? .two : .eight)
        let mask: UInt8 = isMasked ? 0x80 : 0
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        switch form {
        case .short: bytes.append(mask | UInt8(length))
        case .two: bytes += [mask | 126, UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
        case .eight: bytes += [mask | 127] + (0..<8).map { UInt8(length >> (56 - 8 * UInt64($0)) & 0xFF) }
        }
        return bytes + (isMasked ? [0, 0, 0, 0] : []) + payload
    }

    static func text(_ text: String, isFinal: Bool = true) -> ServerFrame {
        ServerFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
    }

    static func binary(_ payload: [UInt8], isFinal: Bool = true) -> ServerFrame {
        ServerFrame(opcode: 2, payload: payload, isFinal: isFinal)
    }

    static func continuation(_ payload: [UInt8], isFinal: Bool = true) -> ServerFrame {
        ServerFrame(opcode: 0, payload: payload, isFinal: isFinal)
    }

    static func ping(_ payload: String) -> ServerFrame {
        ServerFrame(opcode: 9, payload: Array(payload.utf8))
    }

    static func close(_ code: UInt16?, _ reason: [UInt8] = []) -> ServerFrame {
        ServerFrame(opcode: 8, payload: code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] + reason } ?? reason)
    }
}
