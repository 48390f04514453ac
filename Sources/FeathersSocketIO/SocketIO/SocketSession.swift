import FeathersCore

/// The client's side of a namespace across connections: joining, events, and recovery.
struct SocketSession: Sendable {
    enum Action: Sendable, Hashable {
        case nothing
        case connected(recovered: Bool, early: [SocketPacket])
        case refused(message: String, data: JSONValue?)
        case event(arguments: [JSONValue], id: Int?)
        case acknowledged(id: Int, arguments: [JSONValue])
        case disconnectedByServer
        case violated(String)
    }

    private enum State { case offline, joining, joined }

    /// The maximum number of events before the response to CONNECT. (python-socketio sends the events of its connect
    /// handler that early.)
    static let maximumEarlyEvents = 256
    /// The maximum size of these events combined, in bytes.
    static let maximumEarlyBytes = 4 << 20

    let namespace: String
    private let recovers: Bool
    private var state = State.offline
    private var pid: String?
    private var lastOffset: String?
    private var early: [SocketPacket] = []
    private var earlyBytes = 0

    init(namespace: String = SocketPacket.mainNamespace, recovers: Bool = true) {
        self.namespace = namespace
        self.recovers = recovers
    }

    var isJoined: Bool { state == .joined }

    /// Joins the namespace. To recover a session, the packet includes its id and the last offset, as in the reference
    /// client.
    mutating func engineOpened(auth: JSONObject?) -> SocketPacket {
        state = .joining
        var data = JSONObject()
        let pid = recovers ? pid : nil
        if let pid {
            data["pid"] = .string(pid)
            if let lastOffset { data["offset"] = .string(lastOffset) }
        }
        for (key, value) in auth ?? [:] { data[key] = value }
        return SocketPacket(.connect, namespace: namespace, data: pid == nil && auth == nil ? nil : .object(data))
    }

    /// Handles the loss of the connection. Retains what recovery needs.
    mutating func engineClosed() {
        state = .offline
        (early, earlyBytes) = ([], 0)
    }

    /// Forgets the session of a user who has left, so that it is not recovered.
    mutating func forget() { (pid, lastOffset) = (nil, nil) }

    mutating func received(_ packet: SocketPacket) -> Action {
        // Packets of other namespaces are ignored.
        guard packet.namespace == namespace, state != .offline else { return .nothing }
        switch packet.kind {
        case .connect: return joined(packet.data)
        case .connectError:
            state = .offline
            return .refused(
                message: packet.data?["message"]?.string ?? packet.data?.string ?? "", data: packet.data?["data"])
        case .disconnect:
            state = .offline
            // A session that the server ended cannot be recovered.
            (pid, lastOffset) = (nil, nil)
            return .disconnectedByServer
        case .event, .binaryEvent:
            guard state == .joined else {
                earlyBytes += packet.size
                guard early.count < Self.maximumEarlyEvents, earlyBytes <= Self.maximumEarlyBytes else {
                    return .violated("too many events before the response to CONNECT")
                }
                early.append(packet)
                return .nothing
            }
            return event(packet)
        case .ack, .binaryAck:
            guard let id = packet.id else { return .violated("an acknowledgement without an id") }
            return .acknowledged(id: id, arguments: packet.data?.array ?? [])
        }
    }

    /// Converts an event for the application. Stores the offset that the server of a recoverable session appends.
    mutating func event(_ packet: SocketPacket) -> Action {
        let arguments = packet.data?.array ?? []
        if pid != nil, arguments.count > 1, case .string(let offset) = arguments[arguments.count - 1] {
            lastOffset = offset
        }
        return .event(arguments: arguments, id: packet.id)
    }

    private mutating func joined(_ data: JSONValue?) -> Action {
        guard state == .joining else { return .nothing }
        guard data?["sid"]?.string != nil else {
            return .violated("the server responded to CONNECT without a session id, as Socket.IO 2 does")
        }
        let newPID = data?["pid"]?.string
        let recovered = newPID != nil && newPID == pid
        if !recovered { lastOffset = nil }
        pid = newPID
        state = .joined
        defer { (early, earlyBytes) = ([], 0) }
        return .connected(recovered: recovered, early: early)
    }
}
