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
        default: receivedControl(packet, over: connection)
        }
    }

    /// Handles the content of a message in place.
    func received(_ message: UnsafeBufferPointer<UInt8>, over connection: SocketIOConnection) {
        decode(over: connection) { decoder throws(SocketPacketError) in try decoder.received(message) }
    }

    /// Decodes a part of a packet, and handles the packet if it is complete.
    private func decode(
        over connection: SocketIOConnection,
        _ read: (inout SocketPacketDecoder) throws(SocketPacketError) -> SocketPacket?
    ) {
        do throws(SocketPacketError) {
            // Decoding has its own lock, because other threads need the lock of the calls.
            let packet = try connection.decoder.withLock { decoder throws(SocketPacketError) in try read(&decoder) }
            if let packet { received(packet, over: connection) }
        } catch {
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

    private func received(_ packet: SocketPacket, over connection: SocketIOConnection) {
        var waiter: Waiter?
        var joining = Joining()
        var sink: EventSink?
        let action = state.withLock { state in
            guard state.isCurrent(connection) else { return SocketSession.Action.nothing }
            let action = state.session.received(packet)
            switch action {
            case .acknowledged(let id, _): waiter = state.calls.acknowledged(id)
            case .connected: joining = join(connection, &state)
            case .event: sink = state.sink
            default: break
            }
            return action
        }
        switch action {
        case .nothing: break
        case .acknowledged(let id, let arguments):
            if let waiter {
                waiter.resume(with: AckResult.read(arguments))
            } else {
                report(
                    .unknownAcknowledgement, "Received an acknowledgement of call \(id), which is not waiting for one")
            }
        case .event(let arguments, let id): deliver(arguments, id, of: packet.size, to: sink, over: connection)
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
        for packet in early {
            let action = state.withLock { $0.session.event(packet) }
            if case .event(let arguments, let id) = action {
                deliver(arguments, id, of: packet.size, to: joining.sink, over: connection)
            }
        }
        complete(joining.departure)
        connection.joined.resolve(recovered)
    }

    private func deliver(
        _ arguments: [JSONValue], _ id: Int?, of size: Int, to sink: EventSink?, over connection: SocketIOConnection
    ) {
        let name = arguments.first?.string ?? arguments.first.map { "\($0)" } ?? ""
        let isObserved = observers.hasSubscribers
        if isObserved {
            let acknowledgement = id.map { id in
                SocketIOAcknowledgement { [weak self, weak connection] answer in
                    guard let self, let connection else { return }
                    acknowledge(id, with: answer, over: connection)
                }
            }
            observers.emit(
                SocketIOEvent(
                    name: name, arguments: Array(arguments.dropFirst()), acknowledgement: acknowledgement, weight: size)
            )
        }
        guard var event = ServiceEvent(name: name, arguments: arguments) else {
            if !isObserved {
                report(.unknownEvent, "Received an event that does not belong to a service and has no observer")
            }
            return
        }
        event.weight = size
        sink?.receive(event)
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
