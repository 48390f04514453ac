import FeathersCore

/// A packet of the Socket.IO protocol, revision 5.
struct SocketPacket: Sendable {
    enum Kind: UInt8, Sendable, CaseIterable {
        case connect, disconnect, event, ack, connectError, binaryEvent, binaryAck

        /// The kind of the packet after its attachments are filled in.
        var withoutAttachments: Kind {
            switch self {
            case .binaryEvent: .event
            case .binaryAck: .ack
            default: self
            }
        }

        var isBinary: Bool { self == .binaryEvent || self == .binaryAck }
    }

    var kind: Kind
    var namespace: String
    /// The id of a packet that requests an acknowledgement, or is one.
    var id: Int?
    var data: JSONValue?
    /// The number of bytes in which the packet arrived, including attachments. Not considered in comparisons.
    var size = 0

    init(_ kind: Kind, namespace: String = SocketPacket.mainNamespace, id: Int? = nil, data: JSONValue? = nil) {
        self.kind = kind
        self.namespace = namespace
        self.id = id
        self.data = data
    }

    static let mainNamespace = "/"

    /// Event names that client libraries reserve.
    static let reservedNames: Set<String> = [
        "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener",
    ]

    /// Returns whether a name is reserved. The length is checked first: this rules out most service events and is
    /// faster than hashing.
    static func isReserved(_ name: String) -> Bool {
        name.utf8.count <= "removeListener".utf8.count && reservedNames.contains(name)
    }

    /// Serializes the packet as an Engine.IO message: `4<type>[<namespace>,][<id>][<JSON>]`. Calls are JSON, so packets
    /// are never sent with attachments.
    /// - Throws: `JSONSerializationError` if a number is NaN or infinite.
    func frame(call: Int? = nil) throws(JSONSerializationError) -> EngineFrame {
        // Appended rather than interpolated, which costs as much as the JSON of a small call.
        var text = "4"
        text += String(kind.rawValue)
        if namespace != Self.mainNamespace {
            text += namespace
            text += ","
        }
        if let id { text += String(id) }
        return EngineFrame(text: try data?.serialized(after: text) ?? text, call: call)
    }
}

extension SocketPacket: Hashable {
    static func == (left: SocketPacket, right: SocketPacket) -> Bool {
        (left.kind, left.namespace, left.id, left.data) == (right.kind, right.namespace, right.id, right.data)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(namespace)
        hasher.combine(id)
        hasher.combine(data)
    }
}

/// The reason why text or bytes aren't a Socket.IO packet, and their position.
struct SocketPacketError: Error, Hashable, CustomStringConvertible {
    enum Reason: Hashable, Sendable {
        case empty, illegalAttachmentCount, illegalID, textInsteadOfAttachment, unexpectedAttachment, illegalPlaceholder
        case unknownType(UInt8)
        case tooManyAttachments(limit: Int)
        case invalidJSON(JSONParsingError.Reason)
        case invalidPayload(SocketPacket.Kind)
        case reservedName(String)
        case tooLarge(limit: Int)

        fileprivate var explanation: String {
            switch self {
            case .empty: "the packet is empty"
            case .unknownType(let type): "0x\(String(type, radix: 16, uppercase: true)) is not a packet type"
            case .illegalAttachmentCount: "illegal number of attachments"
            case .tooManyAttachments(let limit): "more than \(limit) attachments"
            case .illegalID: "the acknowledgement id is too large"
            case .invalidJSON(let reason): "\(JSONParsingError(reason: reason, offset: 0))"
            case .invalidPayload(let kind): "the payload is invalid for a packet of type \(kind.rawValue)"
            case .reservedName(let name): "the event's name '\(name)' is reserved"
            case .textInsteadOfAttachment: "got plaintext data when reconstructing a packet"
            case .unexpectedAttachment: "got binary data when not reconstructing a packet"
            case .illegalPlaceholder: "illegal attachments"
            case .tooLarge(let limit): "the packet and its attachments are larger than \(limit) bytes"
            }
        }
    }

    let reason: Reason
    /// The number of bytes before the error, or 0 if the packet as a whole is invalid.
    let offset: Int

    init(_ reason: Reason, at offset: Int = 0) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the offset, but never the packet, which may contain secrets.
    var description: String { "Invalid Socket.IO packet at byte \(offset): \(reason.explanation)" }
}
