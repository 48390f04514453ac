/// The body of a polling request or answer: packets joined by U+001E, bytes as `b` and base64.
enum EnginePayload {
    static let separator: UInt8 = 0x1E

    /// Reads a body.
    /// - Parameter limit: how many bytes one packet may have.
    static func packets(in body: some Collection<UInt8>, limit: Int = .max) throws(EngineCodecError) -> [EnginePacket] {
        var packets: [EnginePacket] = []
        var start = body.startIndex
        var offset = 0
        while true {
            let end = body[start...].firstIndex(of: separator) ?? body.endIndex
            let piece = body[start..<end]
            let size = piece.count
            guard size <= limit else { throw EngineCodecError(reason: .tooLarge(limit: limit), offset: offset) }
            packets.append(try packet(in: piece, at: offset))
            guard end < body.endIndex else { return packets }
            start = body.index(after: end)
            offset += size + 1
        }
    }

    /// Writes a body.
    static func body(of frames: some Sequence<EngineFrame>) -> [UInt8] {
        var body: [UInt8] = []
        var isFirst = true
        for frame in frames {
            if !isFirst { body.append(separator) }
            isFirst = false
            switch frame.content {
            case .text(let text): body.append(contentsOf: text.utf8)
            case .binary(let bytes):
                body.append(UInt8(ascii: "b"))
                body.append(contentsOf: Base64.encode(bytes))
            }
        }
        return body
    }

    private static func packet(in piece: some Collection<UInt8>, at offset: Int) throws(EngineCodecError) -> EnginePacket {
        if piece.first == UInt8(ascii: "b") {
            do {
                return .binary(try Base64.decode(piece.dropFirst()))
            } catch {
                throw EngineCodecError(reason: .invalidBase64, offset: offset + 1 + error.offset)
            }
        }
        guard let text = String(validating: piece, as: UTF8.self) else {
            throw EngineCodecError(reason: .invalidUTF8, offset: offset)
        }
        do {
            return try EnginePacket(decoding: text)
        } catch {
            throw EngineCodecError(reason: error.reason, offset: offset + error.offset)
        }
    }
}
