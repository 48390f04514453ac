import FeathersCore
import FeathersNetworking
import FeathersSupport

extension SocketIOClient {
    /// The time limit for sending the disconnect packet before the connection is dropped.
    private static let goodbyeTime = Duration.seconds(1)

    /// Makes one attempt to connect. If it succeeds, returns when the connection ends.
    /// - Parameter onOpen: A closure that is called when the connection is open for all calls.
    func connectOnce(_ onOpen: () -> Void) async -> Disconnection {
        let setups = state.withLock { $0.setups }
        do {
            let opened = try await openUnlessStopped(setups)
            let limits = SocketPacketDecoder.Limits(attachments: options.maximumAttachments, bytes: options.maximumMessageSize)
            return await live(SocketIOConnection(opened.engine, setups: setups, limits: limits), opened, onOpen)
        } catch let error as EngineOpeningError {
            let code: FeathersError.Code = error.isTimeout ? .timeout : .unavailable
            return Disconnection(.transportError(error.description), error: FeathersError(code, error.description, execution: .neverSent))
        } catch is CancellationError {
            return Disconnection(.clientDisconnect)
        } catch let error as FeathersError {
            return Disconnection(.transportError(error.message), error: error)
        } catch {
            // Errors thrown by the application's closures may contain anything, so only the type is named.
            let message = "The payload or the headers of the connection could not be created (\(type(of: error)))"
            let reported = FeathersError(.unavailable, message, execution: .neverSent, cause: error)
            return Disconnection(.transportError(message), error: reported)
        }
    }

    /// Opens an Engine.IO session, and gives up as soon as the run is stopped.
    private func openUnlessStopped(_ setups: [ConnectionSetup]) async throws -> OpenedSession {
        let stop = state.withLock { $0.run.stop }
        return try await withThrowingTaskGroup(of: OpenedSession?.self) { group in
            group.addTask {
                let auth = try await self.options.auth?()
                let headers = try await self.headers(setups)
                let timeout = self.options.connectTimeout
                let deadline = self.timebase.now + timeout
                let engine = try await self.opener.get().open(headers: headers, timeout: timeout)
                return OpenedSession(engine: engine, auth: auth, deadline: deadline)
            }
            group.addTask {
                try await stop.value()
                return nil
            }
            let first = await group.nextResult()
            group.cancelAll()
            if case .success(let opened?) = first { return opened }
            // A session may still have opened after the stop.
            while let late = await group.nextResult() {
                if case .success(let opened?) = late { opened.engine.close() }
            }
            if case .failure(let error) = first { throw error }
            throw CancellationError()
        }
    }

    /// Returns the header fields for one attempt: the application's, plus any fields from plugins that aren't set yet.
    private func headers(_ setups: [ConnectionSetup]) async throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        for make in [options.headers].compactMap(\.self) + setups.map(\.headers) {
            let fields = try await make().filter { headers[$0.key] == nil }
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                do {
                    try headers.set(name, to: value)
                } catch {
                    throw FeathersError.refused(error.message)
                }
            }
        }
        return headers
    }

    private func live(_ connection: SocketIOConnection, _ opened: OpenedSession, _ onOpen: () -> Void) async -> Disconnection {
        await withTaskGroup(of: Void.self) { group in
            join(connection, opened)
            group.addTask {
                // Weak, because the engine keeps the handler. An open connection is retained by the client and by this method.
                let closure = await connection.engine.run { [weak connection] packet in
                    if let connection { self.received(packet, over: connection) }
                }
                self.lose(connection, Disconnection(DisconnectReason(closure.reason)), unsent: closure.unsent)
            }
            let end = await stay(on: connection, onOpen)
            if end.saysGoodbye, !Task.isCancelled {
                group.addTask { try? await self.timebase.sleep(for: Self.goodbyeTime) }
                await group.next()
            }
            group.cancelAll()
            return end
        }
    }

    /// Prepares a connection and waits for its end, while running the plugins' tasks.
    private func stay(on connection: SocketIOConnection, _ onOpen: () -> Void) async -> Disconnection {
        await withTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            if let recovered = try? await connection.joined.value(), await prepare(connection, recovered: recovered) {
                onOpen()
                for setup in connection.setups {
                    group.addTask { await setup.accompany { try await self.call($0, over: connection) } }
                }
            }
            do {
                return try await connection.ended.value()
            } catch {
                sayGoodbye(to: connection)
                return Disconnection(.clientDisconnect)
            }
        }
    }

    /// Makes a connection the current one and joins the namespace.
    private func join(_ connection: SocketIOConnection, _ opened: OpenedSession) {
        let now = timebase.now
        let (packet, signal, isStopped) = state.withLock { state in
            state.current = Current(
                connection: connection, stage: .joining(until: opened.deadline),
                heartbeat: EngineSession(handshake: connection.engine.handshake, now: now))
            return (state.session.engineOpened(auth: opened.auth), state.alarm.signal, state.run.stop.isSettled)
        }
        signal.resolve(())
        if isStopped { return sayGoodbye(to: connection) }
        do throws(JSONSerializationError) {
            send([try packet.frame()], over: connection)
        } catch {
            let message = "The payload of the connection cannot be written as JSON"
            lose(connection, Disconnection(.transportError(message), saysGoodbye: true, error: .refused(message)))
        }
    }

    /// Runs the plugins' preparation on a joined connection, then opens it for all calls. Returns `false` if the connection ended first.
    private func prepare(_ connection: SocketIOConnection, recovered: Bool) async -> Bool {
        if !connection.setups.isEmpty {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for setup in connection.setups where !Task.isCancelled {
                        await setup.prepare { try await self.call($0, over: connection) }
                    }
                }
                group.addTask { _ = try? await connection.ended.value() }
                await group.next()
                group.cancelAll()
            }
            guard !Task.isCancelled else { return false }
        }
        return open(connection, recovered: recovered)
    }

    /// Takes the waiting calls in the same critical section that changes the status and lets later calls go out immediately. So no call overtakes
    /// another, and no call completes before the status says that the connection is open.
    private func open(_ connection: SocketIOConnection, recovered: Bool) -> Bool {
        var departure = Departure()
        let isOpen = state.withLock { state in
            guard state.isCurrent(connection), state.session.isJoined else { return false }
            state.current?.stage = .open
            state.lastFailure = nil
            departure = takeLane(.ordinary, over: connection, &state)
            status.enqueue(.connected(recovered: recovered))
            return true
        }
        guard isOpen else { return false }
        status.deliver()
        complete(departure)
        return true
    }

    /// Ends a connection for all its users. A no-op if it has ended. The frames of the calls in `unsent` are known to have never been sent.
    func lose(_ connection: SocketIOConnection, _ end: Disconnection, unsent: [Int] = []) {
        let calls: [CallTable<Waiter>.Call]? = state.withLock { state in
            guard let current = state.current, current.connection === connection else { return nil }
            state.current = nil
            if state.run.outcome.isSettled { state.run.outcome = Promise() }
            state.session.engineClosed()
            return state.calls.connectionLost(unsent: unsent + current.refused + current.outbox.compactMap(\.call))
        }
        guard let calls else { return }
        connection.engine.close()
        let why = "The connection was lost before the response arrived: \(end.reason.explanation)"
        for call in calls {
            let execution: FeathersError.Execution = call.unsent == nil ? .mayHaveExecuted : .neverSent
            call.waiter.resume(throwing: FeathersError(.unavailable, why, execution: execution, cause: end.error))
        }
        connection.joined.fail(end.error)
        connection.ended.resolve(end)
    }

    func sayGoodbye(to connection: SocketIOConnection) {
        let isJoined = state.withLock { $0.isCurrent(connection) && $0.session.isJoined }
        // Writing a packet without data cannot fail.
        if isJoined, let frame = try? SocketPacket(.disconnect, namespace: options.namespace).frame() { send([frame], over: connection) }
        lose(connection, Disconnection(.clientDisconnect, saysGoodbye: true))
    }

    /// Returns whether a plugin wants another attempt after an otherwise final end. Stops asking plugins when the run is stopped.
    func reconnects(after reason: DisconnectReason) async -> Bool {
        switch reason {
        case .serverDisconnect, .refused: break
        default: return false
        }
        let (setups, stop) = state.withLock { ($0.setups, $0.run.stop) }
        guard !setups.isEmpty else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for setup in setups where !Task.isCancelled {
                    if await setup.reconnects(reason) { return true }
                }
                return false
            }
            group.addTask {
                try? await stop.value()
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}

/// A newly opened Engine.IO session, and what is needed to join the namespace.
private struct OpenedSession: Sendable {
    let engine: any EngineConnection
    let auth: JSONObject?
    /// The deadline of the attempt to connect, which opening the session and joining the namespace share.
    let deadline: Duration
}
