import FeathersCore

/// Writes packets as Engine.IO messages: `4<type>[<attachments>-][<namespace>,][<id>][<JSON>]`.
enum SocketPacketEncoder {
    /// The frames of a packet: one text, and one for each attachment.
    /// - Parameter attachments: bytes the data's placeholders refer to, in their order.
    /// - Throws: `JSONSerializationError` where a number is NaN or infinite.
    static func frames(
        of packet: SocketPacket, attachments: [[UInt8]] = [], call: Int? = nil
    ) throws(JSONSerializationError) -> [EngineFrame] {
        var text: [UInt8] = [UInt8(ascii: "4"), UInt8(ascii: "0") + packet.kind.rawValue]
        if packet.kind.isBinary {
            text.append(contentsOf: String(attachments.count).utf8)
            text.append(UInt8(ascii: "-"))
        }
        if packet.namespace != SocketPacket.mainNamespace {
            text.append(contentsOf: packet.namespace.utf8)
            text.append(UInt8(ascii: ","))
        }
        if let id = packet.id { text.append(contentsOf: String(id).utf8) }
        if let data = packet.data { try data.serialize(into: &text) }
        let first = EngineFrame(text: String(decoding: text, as: UTF8.self), call: call)
        return [first] + attachments.map { EngineFrame(binary: $0, call: call) }
    }

    /// The frame of a packet without attachments.
    static func frame(of packet: SocketPacket, call: Int? = nil) throws(JSONSerializationError) -> EngineFrame {
        try frames(of: packet, call: call)[0]
    }
}
