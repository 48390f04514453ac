import FeathersCore

/// Puts packets together: a text, and the attachments that follow it.
///
/// Bytes have no place in JSON. Where an attachment belongs its base64 text stands, which is also what a model's `Data` property
/// decodes from.
struct SocketPacketDecoder: Sendable {
    struct Limits: Sendable, Hashable {
        /// How many attachments a packet may have; 10 as in socket.io-parser.
        var attachments = 10
        /// How many bytes a packet may have with its attachments.
        var bytes = 64 << 20
    }

    private struct Unfinished: Sendable {
        var packet: SocketPacket
        var expected: Int
        var attachments: [[UInt8]] = []
        var size: Int
    }

    private let limits: Limits
    private var unfinished: Unfinished?

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Whether a text of that many bytes may come now.
    func permits(textOf size: Int) -> Bool { unfinished == nil && size <= limits.bytes }

    /// - Returns: the packet; nil while its attachments are to come.
    mutating func received(_ text: String) throws(SocketPacketError) -> SocketPacket? {
        guard unfinished == nil else { throw SocketPacketError(.textInsteadOfAttachment) }
        guard text.utf8.count <= limits.bytes else { throw SocketPacketError(.tooLarge(limit: limits.bytes)) }
        var (packet, attachments) = try SocketPacketParser.parse(text, maximumAttachments: limits.attachments)
        if attachments > 0 {
            unfinished = Unfinished(packet: packet, expected: attachments, size: text.utf8.count)
            return nil
        }
        packet.kind = packet.kind.withoutAttachments
        return packet
    }

    /// - Returns: the packet that was waiting for this last attachment; nil while more are to come.
    mutating func received(_ attachment: [UInt8]) throws(SocketPacketError) -> SocketPacket? {
        guard var waiting = unfinished else { throw SocketPacketError(.unexpectedAttachment) }
        unfinished = nil
        waiting.size += attachment.count
        guard waiting.size <= limits.bytes else { throw SocketPacketError(.tooLarge(limit: limits.bytes)) }
        waiting.attachments.append(attachment)
        guard waiting.attachments.count == waiting.expected else {
            unfinished = waiting
            return nil
        }
        var packet = waiting.packet
        packet.kind = packet.kind.withoutAttachments
        let texts = waiting.attachments.map { String(decoding: Base64.encode($0), as: UTF8.self) }
        packet.data = try packet.data.map { data throws(SocketPacketError) in try Self.fill(data, with: texts) }
        return packet
    }

    private static func fill(_ value: JSONValue, with texts: [String]) throws(SocketPacketError) -> JSONValue {
        switch value {
        case .array(let array):
            return .array(try array.map { element throws(SocketPacketError) in try fill(element, with: texts) })
        case .object(var object):
            if object["_placeholder"] == .bool(true) {
                guard let index = object["num"]?.integer, index >= 0, index < texts.count else {
                    throw SocketPacketError(.illegalPlaceholder)
                }
                return .string(texts[Int(index)])
            }
            for key in object.keys { object[key] = try fill(object[key] ?? .null, with: texts) }
            return .object(object)
        default: return value
        }
    }
}
