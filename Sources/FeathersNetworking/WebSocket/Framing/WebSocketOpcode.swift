/// What a frame carries (RFC 6455, section 5.2); every other opcode is reserved.
enum WebSocketOpcode: UInt8 {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// Control frames are short, whole, and may stand between the fragments of a message (section 5.5).
    var isControl: Bool { rawValue & 8 != 0 }
}
