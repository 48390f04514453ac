import FeathersCore
import FeathersNetworking
import FeathersSupport

extension SocketIOClient {
    /// Takes one packet from the connection's thread; what it causes has happened when this returns.
    func received(_ packet: EnginePacket, over link: Link) {
        do throws(SocketPacketError) {
            switch packet {
            case .message(let text):
                if let answer = AnswerText(in: text, namespace: options.namespace), take(answer, of: text.utf8.count, over: link) { return }
                // Decoding needs no lock of the calls, which other threads want.
                let socketPacket = try link.decoder.withLock { decoder throws(SocketPacketError) in try decoder.received(text) }
                if let socketPacket { received(socketPacket, over: link) }
            case .binary(let bytes):
                let socketPacket = try link.decoder.withLock { decoder throws(SocketPacketError) in try decoder.received(bytes) }
                if let socketPacket { received(socketPacket, over: link) }
            default: receivedControl(packet, over: link)
            }
        } catch {
            violated("\(error)", over: link)
        }
    }

    /// Hands a call's result on as its text, where its caller wants that.
    /// - Returns: false, with nothing done, where the packet is to be read as any other.
    private func take(_ answer: AnswerText, of size: Int, over link: Link) -> Bool {
        let isWanted = state.withLock { state in
            state.link === link && state.session.isJoined && state.calls.waiter(for: answer.id)?.resultText != nil
        }
        guard isWanted, link.decoder.withLock({ $0.permits(textOf: size) }), let text = answer.marked() else { return false }
        guard let waiter = state.withLock({ $0.calls.acknowledged(answer.id) }) else { return false }
        waiter.resultText?.leave(text)
        waiter.resume(with: .success(.null))
        return true
    }

    private func receivedControl(_ packet: EnginePacket, over link: Link) {
        let now = timebase.now
        // A ping moves the heartbeat's deadline away: the timer may sleep on until it looks again.
        let action = state.withLock { state in
            state.link === link ? state.engine?.received(packet, now: now) ?? .nothing : .nothing
        }
        switch action {
        case .send(let packet): send([packet.frame], over: link)
        case .close(.closedByServer): lose(link, LinkEnd(.transportClose))
        case .close(.pingTimeout): lose(link, LinkEnd(.pingTimeout))
        case .close(.unexpected(let what)): violated(what, over: link)
        case .nothing, .deliver, .deliverBinary: break
        }
    }

    private func received(_ packet: SocketPacket, over link: Link) {
        var waiter: Waiter?
        var joining = Joining()
        let action = state.withLock { state in
            guard state.link === link else { return SocketSession.Action.nothing }
            let action = state.session.received(packet)
            switch action {
            case .acknowledged(let id, _): waiter = state.calls.acknowledged(id)
            case .connected: joining = join(&state)
            default: break
            }
            return action
        }
        switch action {
        case .nothing: break
        case .acknowledged(let id, let arguments):
            if let waiter {
                waiter.resume(with: CallAnswer.result(of: arguments))
            } else {
                report(.unknownAcknowledgement, "An answer came to call \(id), for which nobody waits")
            }
        case .event(let arguments, let id): deliver(arguments, id, over: link)
        case .connected(let recovered, let early): joined(link, recovered: recovered, early: early, joining)
        case .refused(let message, let data):
            let error = FeathersError(.forbidden, message, data: data, execution: .neverSent)
            lose(link, LinkEnd(.refused(message), saysGoodbye: true, error: error))
        case .disconnectedByServer: lose(link, LinkEnd(.serverDisconnect, saysGoodbye: true))
        case .violated(let what): violated(what, over: link)
        }
    }

    private func violated(_ what: String, over link: Link) {
        report(.protocolViolation, what)
        lose(link, LinkEnd(.parseError(what), saysGoodbye: true))
    }

    /// What follows from the namespace being joined, once the lock is released.
    private struct Joining: Sendable {
        var sink: EventSink?
        var isReconnected = false
    }

    private func join(_ state: inout State) -> Joining {
        defer { (state.joinDeadline, state.hasConnected) = (nil, true) }
        return Joining(sink: state.sink, isReconnected: state.hasConnected)
    }

    private func joined(_ link: Link, recovered: Bool, early: [SocketPacket], _ joining: Joining) {
        // Before any event of this connection, so that whoever refetches at the gap misses none.
        if joining.isReconnected, !recovered { joining.sink?.receiveGap(.reconnected) }
        for packet in early {
            let action = state.withLock { $0.session.event(packet) }
            if case .event(let arguments, let id) = action { deliver(arguments, id, over: link) }
        }
        link.joined.resolve(recovered)
    }

    private func deliver(_ arguments: [JSONValue], _ id: Int?, over link: Link) {
        let name = arguments.first?.string ?? arguments.first.map { "\($0)" } ?? ""
        let isObserved = !observers.isEmpty
        if isObserved {
            let acknowledgement = id.map { id in
                SocketIOAcknowledgement { [weak self, weak link] answer in
                    guard let self, let link else { return }
                    acknowledge(id, with: answer, over: link)
                }
            }
            observers.yield(SocketIOEvent(name: name, arguments: Array(arguments.dropFirst()), acknowledgement: acknowledgement))
        }
        guard let event = ServiceEvent(name: name, arguments: arguments) else {
            if !isObserved { report(.unknownEvent, "An event came that is no service's and that nobody observes") }
            return
        }
        state.withLock { $0.sink }?.receive(event)
    }

    private func acknowledge(_ id: Int, with answer: [JSONValue], over link: Link) {
        let packet = SocketPacket(.ack, namespace: options.namespace, id: id, data: .array(answer))
        guard let frame = try? SocketPacketEncoder.frame(of: packet) else {
            return report(.notSent, "An acknowledgement holds a number JSON cannot express")
        }
        let limit = min(options.maximumMessageSize, link.connection.handshake.maxPayload)
        guard frame.size <= limit else { return report(.notSent, "An acknowledgement has more than \(limit) bytes") }
        send([frame], over: link)
    }
}

extension ServiceEvent {
    /// A service's event, named `<path> <event>`: the last space divides them. Nil for any other name.
    init?(name: String, arguments: [JSONValue]) {
        var name = name
        // In the bytes themselves: by way of a string's indices, this would cost as much as the delivery.
        let parts: (path: String, event: String)? = name.withUTF8 { bytes in
            guard let space = bytes.lastIndex(of: UInt8(ascii: " ")), space > 0, space + 1 < bytes.count else { return nil }
            return (String(decoding: bytes[..<space], as: UTF8.self), String(decoding: bytes[(space + 1)...], as: UTF8.self))
        }
        guard let parts else { return nil }
        // The root service's path is `/` on the wire and empty in an app.
        self.init(
            path: parts.path == "/" ? "" : parts.path, name: EventName(rawValue: parts.event),
            data: arguments.count > 1 ? arguments[1] : .null)
    }
}
