import FeathersCore

/// Why something is no Socket.IO packet, and where.
struct SocketPacketError: Error, Hashable, CustomStringConvertible {
    enum Reason: Hashable, Sendable {
        /// No type stands at the start.
        case empty
        /// The type is none of `0` to `6`.
        case unknownType(UInt8)
        /// The number of attachments is missing, no number, or not followed by `-`.
        case illegalAttachmentCount
        case tooManyAttachments(limit: Int)
        /// The ack id is larger than any client counts.
        case illegalID
        case invalidJSON(JSONParsingError.Reason)
        /// The payload is not what the type demands.
        case invalidPayload(SocketPacket.Kind)
        /// The event has a name only client libraries may use.
        case reservedName(String)
        /// A text came where an attachment was due.
        case textInsteadOfAttachment
        /// Bytes came though no packet announced any.
        case unexpectedAttachment
        /// A placeholder names an attachment that is not there.
        case illegalPlaceholder
        /// A packet and its attachments are larger than accepted.
        case tooLarge(limit: Int)
    }

    let reason: Reason
    /// How many bytes stand before the one at fault; 0 where the packet as a whole is wrong.
    let offset: Int

    init(_ reason: Reason, at offset: Int = 0) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the offset; never the packet, which may hold secrets.
    var description: String {
        "Invalid Socket.IO packet at byte \(offset): \(reason.explanation)"
    }
}

extension SocketPacketError.Reason {
    fileprivate var explanation: String {
        switch self {
        case .empty: "the packet is empty"
        case .unknownType(let type): "0x\(String(type, radix: 16, uppercase: true)) is no packet type"
        case .illegalAttachmentCount: "illegal number of attachments"
        case .tooManyAttachments(let limit): "more than \(limit) attachments"
        case .illegalID: "the acknowledgement id is too large"
        case .invalidJSON(let reason): "\(JSONParsingError(reason: reason, offset: 0))"
        case .invalidPayload(let kind): "the payload does not suit a packet of type \(kind.rawValue)"
        case .reservedName(let name): "the event's name '\(name)' is reserved"
        case .textInsteadOfAttachment: "got plaintext data when reconstructing a packet"
        case .unexpectedAttachment: "got binary data when not reconstructing a packet"
        case .illegalPlaceholder: "illegal attachments"
        case .tooLarge(let limit): "the packet and its attachments are larger than \(limit) bytes"
        }
    }
}
