import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

extension SocketIOClient {
    /// Handles one packet on the connection's thread. All its effects are complete on return.
    func received(_ packet: EnginePacket, over connection: SocketIOConnection) {
        switch packet {
        case .message(var text): text.withUTF8 { received($0, over: connection) }
        case .binary(let bytes):
            decode(over: connection) { decoder throws(SocketPacketError) in try decoder.received(attachment: bytes) }
        default:
            readEnded(over: connection)
            receivedControl(packet, over: connection)
        }
        readEnded(over: connection)
    }

    /// Decodes the content of a message in place. The packet is handled with the others of the same read
    /// (``readEnded(over:)``).
    func received(_ message: UnsafeBufferPointer<UInt8>, over connection: SocketIOConnection) {
        decode(over: connection) { decoder throws(SocketPacketError) in try decoder.received(message) }
    }

    private func decode(
        over connection: SocketIOConnection,
        _ read: (inout SocketPacketDecoder) throws(SocketPacketError) -> SocketPacket?
    ) {
        do throws(SocketPacketError) {
            if let packet = try read(&connection.decoder) { connection.received.append(packet) }
        } catch {
            readEnded(over: connection)
            violated("\(error)", over: connection)
        }
    }

    private func receivedControl(_ packet: EnginePacket, over connection: SocketIOConnection) {
        let now = timebase.now
        // A ping only postpones the heartbeat deadline, so the timer need not be woken.
        let action = state.withLock { state in
            state.isCurrent(connection) ? state.current?.heartbeat.received(packet, now: now) ?? .nothing : .nothing
        }
        switch action {
        case .send(let packet): send([packet.frame], over: connection)
        case .close(.closedByServer): lose(connection, Disconnection(.transportClose))
        case .close(.pingTimeout): lose(connection, Disconnection(.pingTimeout))
        case .close(.unexpected(let what)): violated(what, over: connection)
        case .nothing: break
        }
    }

    /// What the packets of a read ask for, up to one that changes the session.
    private struct Steps: Sendable {
        var events = ReceivedEvents()
        /// The events with which more is to be done than to deliver them, in order.
        var others: [(arguments: [JSONValue], id: Int?, size: Int)] = []
        var acknowledged: [(id: Int, waiter: Waiter?, arguments: [JSONValue])] = []
        /// The last step, which changes the session.
        var change = SocketSession.Action.nothing
        var joining = Joining()
        var sink: EventSink?
    }

    /// Handles the packets that one read has brought, in order: under one lock, and with one delivery of their events,
    /// after which their callers are resumed.
    func readEnded(over connection: SocketIOConnection) {
        guard !connection.received.isEmpty else { return }
        var packets: [SocketPacket] = []
        swap(&packets, &connection.received)
        let isObserved = observers.hasSubscribers
        var position = 0
        while position < packets.count {
            let steps = take(packets, from: &position, isObserved: isObserved, over: connection)
            for event in steps.others { noteUnusual(event.arguments, event.id, of: event.size, over: connection) }
            steps.events.deliver(to: steps.sink)
            for (id, waiter, arguments) in steps.acknowledged {
                if let waiter {
                    waiter.resume(with: AckResult.read(arguments))
                } else {
                    report(
                        .unknownAcknowledgement,
                        "Received an acknowledgement of call \(id), which is not waiting for one")
                }
            }
            change(steps.change, steps.joining, over: connection)
        }
        // The memory of many packets is not kept, because there may be thousands of connections.
        packets.removeAll(keepingCapacity: packets.count < 16)
        swap(&packets, &connection.received)
    }

    /// Takes the steps for packets from a position on, up to the first that changes the session.
    private func take(
        _ packets: [SocketPacket], from position: inout Int, isObserved: Bool, over connection: SocketIOConnection
    ) -> Steps {
        var next = position
        defer { position = next }
        return state.withLock { state in
            var steps = Steps()
            guard state.isCurrent(connection) else {
                next = packets.count
                return steps
            }
            steps.sink = state.sink
            while next < packets.count {
                let action = state.session.received(packets[next])
                let size = packets[next].size
                next += 1
                switch action {
                case .nothing: break
                case .event(let arguments, let id):
                    if !steps.events.add(arguments, of: size) || isObserved {
                        steps.others.append((arguments, id, size))
                    }
                case .acknowledged(let id, let arguments):
                    steps.acknowledged.append((id, state.calls.acknowledged(id), arguments))
                default:
                    steps.change = action
                    if case .connected = action { steps.joining = join(connection, &state) }
                    return steps
                }
            }
            return steps
        }
    }

    private func change(
        _ action: SocketSession.Action, _ joining: Joining, over connection: SocketIOConnection
    ) {
        switch action {
        case .nothing, .event, .acknowledged: break
        case .connected(let recovered, let early): joined(connection, recovered: recovered, early: early, joining)
        case .refused(let message, let data):
            let error = FeathersError(.forbidden, message, data: data, execution: .neverSent)
            lose(connection, Disconnection(.refused(message), saysGoodbye: true, error: error))
        case .disconnectedByServer: lose(connection, Disconnection(.serverDisconnect, saysGoodbye: true))
        case .violated(let what): violated(what, over: connection)
        }
    }

    private func violated(_ what: String, over connection: SocketIOConnection) {
        report(.protocolViolation, what)
        lose(connection, Disconnection(.parseError(what), saysGoodbye: true))
    }

    /// The work left for a joined namespace after the lock is released.
    private struct Joining: Sendable {
        var sink: EventSink?
        var isReconnected = false
        /// The waiting session calls. They are taken at the moment the namespace is joined, so that later ones cannot
        /// overtake them.
        var departure = Departure()
    }

    private func join(_ connection: SocketIOConnection, _ state: inout State) -> Joining {
        defer { state.hasConnected = true }
        guard state.current?.stage != .retired else { return Joining(sink: state.sink) }
        state.current?.stage = .preparing
        return Joining(
            sink: state.sink, isReconnected: state.hasConnected, departure: takeLane(.session, over: connection, &state)
        )
    }

    private func joined(_ connection: SocketIOConnection, recovered: Bool, early: [SocketPacket], _ joining: Joining) {
        // Reported before any event of this connection, so that readers that refetch after a gap miss nothing.
        if joining.isReconnected, !recovered { joining.sink?.receiveGap(.reconnected) }
        let isObserved = observers.hasSubscribers
        var events = ReceivedEvents()
        for packet in early {
            guard case .event(let arguments, let id) = state.withLock({ $0.session.event(packet) }) else { continue }
            if !events.add(arguments, of: packet.size) || isObserved {
                noteUnusual(arguments, id, of: packet.size, over: connection)
            }
        }
        events.deliver(to: joining.sink)
        complete(joining.departure)
        connection.joined.resolve(recovered)
    }

    /// Passes an event to the observers. Without any, reports it, because it belongs to no service.
    private func noteUnusual(_ arguments: [JSONValue], _ id: Int?, of size: Int, over connection: SocketIOConnection) {
        guard observers.hasSubscribers else {
            guard !ReceivedEvents.contains(arguments) else { return }
            return report(.unknownEvent, "Received an event that does not belong to a service and has no observer")
        }
        let acknowledgement = id.map { id in
            SocketIOAcknowledgement { [weak self, weak connection] answer in
                guard let self, let connection else { return }
                acknowledge(id, with: answer, over: connection)
            }
        }
        observers.emit(
            SocketIOEvent(
                name: ReceivedEvents.name(of: arguments), arguments: Array(arguments.dropFirst()),
                acknowledgement: acknowledgement, weight: size))
    }

    private func acknowledge(_ id: Int, with answer: [JSONValue], over connection: SocketIOConnection) {
        let packet = SocketPacket(.ack, namespace: options.namespace, id: id, data: .array(answer))
        guard let frame = try? packet.frame() else {
            return report(.notSent, "An acknowledgement has a number that JSON cannot represent")
        }
        let limit = min(options.maximumMessageSize, connection.engine.handshake.maxPayload)
        guard frame.size <= limit else { return report(.notSent, "An acknowledgement has more than \(limit) bytes") }
        send([frame], over: connection)
    }
}

/// The events of services that one read has brought.
private struct ReceivedEvents: Sendable {
    private var events: [ServiceEvent] = []
    /// The last event and its name on the wire. Most events of a read have the same one.
    private var last: (name: String, event: ServiceEvent)?

    static func name(of arguments: [JSONValue]) -> String {
        arguments.first?.string ?? arguments.first.map { "\($0)" } ?? ""
    }

    /// Whether the arguments are those of a service's event.
    static func contains(_ arguments: [JSONValue]) -> Bool {
        ServiceEvent(name: name(of: arguments), arguments: []) != nil
    }

    /// Adds an event.
    /// - Returns: Whether it is an event of a service.
    mutating func add(_ arguments: [JSONValue], of size: Int) -> Bool {
        let name = Self.name(of: arguments)
        if name != last?.name {
            guard let event = ServiceEvent(name: name, arguments: []) else { return false }
            last = (name, event)
        }
        guard var event = last?.event else { return false }
        (event.data, event.weight) = (arguments.count > 1 ? arguments[1] : .null, size)
        events.append(event)
        return true
    }

    func deliver(to sink: EventSink?) {
        if !events.isEmpty { sink?.receive(contentsOf: events[...]) }
    }
}

extension ServiceEvent {
    /// Creates an event of a service from a name of the form `<path> <event>`, split at the last space. Returns nil for
    /// any other name.
    init?(name: String, arguments: [JSONValue]) {
        var name = name
        // Searches the bytes, because string indices would cost as much as the delivery.
        let parts: (path: String, event: String)? = name.withUTF8 { bytes in
            guard let space = bytes.lastIndex(of: UInt8(ascii: " ")), space > 0, space + 1 < bytes.count else {
                return nil
            }
            return (
                String(decoding: bytes[..<space], as: UTF8.self), String(decoding: bytes[(space + 1)...], as: UTF8.self)
            )
        }
        guard let parts else { return nil }
        // The path of the root service is `/` on the wire and empty in an app.
        self.init(
            path: parts.path == "/" ? "" : parts.path, name: EventName(rawValue: parts.event),
            data: arguments.count > 1 ? arguments[1] : .null)
    }
}
