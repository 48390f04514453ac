import FeathersCore

/// One packet of the Socket.IO protocol, revision 5.
struct SocketPacket: Sendable, Hashable {
    enum Kind: UInt8, Sendable, CaseIterable {
        case connect, disconnect, event, ack, connectError, binaryEvent, binaryAck

        /// The kind once a packet's attachments stand where they belong.
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
    /// The id of a packet that asks for an answer, or is one.
    var id: Int?
    var data: JSONValue?

    init(_ kind: Kind, namespace: String = SocketPacket.mainNamespace, id: Int? = nil, data: JSONValue? = nil) {
        self.kind = kind
        self.namespace = namespace
        self.id = id
        self.data = data
    }

    static let mainNamespace = "/"

    /// Names neither side may use for an event: they are what client libraries call their own.
    static let reservedNames: Set<String> = [
        "connect", "connect_error", "disconnect", "disconnecting", "newListener", "removeListener",
    ]

    /// Whether a name is one of them. A service's event has a space in it, and is known by its length most often, which costs less than a hash.
    static func isReserved(_ name: String) -> Bool {
        name.utf8.count <= "removeListener".utf8.count && reservedNames.contains(name)
    }
}
