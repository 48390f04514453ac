/// The frames a client sent, read the way a server does: independent of the code under test.
struct ClientFrames: Sequence {
    private let frames: [ServerFrame]

    init(_ bytes: [UInt8]) {
        var frames: [ServerFrame] = []
        var index = 0
        while index < bytes.count {
            let lengthBytes = [126: 2, 127: 8][bytes[index + 1] & 0x7F] ?? 0
            let stated = bytes[(index + 2)..<(index + 2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
            let length = lengthBytes == 0 ? Int(bytes[index + 1] & 0x7F) : stated
            let start = index + 2 + lengthBytes + 4
            let key = Array(bytes[(start - 4)..<start])
            let payload = bytes[start..<(start + length)].enumerated().map { $1 ^ key[$0 & 3] }
            frames.append(ServerFrame(opcode: bytes[index] & 15, payload: payload, isFinal: bytes[index] & 0x80 != 0))
            index = start + length
        }
        self.frames = frames
    }

    func makeIterator() -> IndexingIterator<[ServerFrame]> { frames.makeIterator() }
}

extension ServerFrame {
    /// The same message in two frames.
    func fragmented(at index: Int) -> [ServerFrame] {
        [
            ServerFrame(opcode: opcode, payload: Array(payload[..<index]), isFinal: false),
            ServerFrame(opcode: 0, payload: Array(payload[index...]), isFinal: true),
        ]
    }
}
