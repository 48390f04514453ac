import FeathersCore
import FeathersNetworking
import FeathersSupport
import Synchronization

extension SocketIOClient {
    /// The time limit for sending the disconnect packet before the connection is dropped.
    private static let goodbyeTime = Duration.seconds(1)

    /// Makes one attempt to connect. If it succeeds, returns when the connection ends.
    ///
    /// The calling task only enforces the deadlines. Everything else runs in child tasks, most of which have ended when
    /// the connection is open: an idle connection keeps few of them.
    func connectOnce() async -> Disconnection {
        switch await openUnlessStopped(state.withLock { $0.setups }) {
        case .opened(let session): await live(session)
        case .failed(let end): end
        }
    }

    /// Opens an Engine.IO session, and gives up as soon as the run is stopped.
    @inline(never)
    private func openUnlessStopped(_ setups: [ConnectionSetup]) async -> Opening {
        let (stop, settled) = (state.withLock { $0.run.stop }, Promise<Void>())
        return await withTaskGroup(of: Opening.self) { group in
            group.addTask {
                defer {
                    settled.resolve(())
                    self.wakeTimer()
                }
                return await self.open(setups)
            }
            await keepTime { !settled.isSettled && !stop.isSettled }
            let isStopped = !settled.isSettled && stop.isSettled
            if isStopped { group.cancelAll() }
            let opening = await group.next() ?? .failed(Disconnection(.clientDisconnect))
            // A session may still have opened after the stop.
            if isStopped, case .opened(let session) = opening {
                session.engine.close()
                return .failed(Disconnection(.clientDisconnect))
            }
            return opening
        }
    }

    private func open(_ setups: [ConnectionSetup]) async -> Opening {
        do {
            let (auth, headers) = try await payloadAndHeaders(setups)
            let timeout = options.connectTimeout
            let deadline = timebase.now + timeout
            let engine = try await opener.get().open(headers: headers, timeout: timeout)
            return .opened(OpenedSession(engine: engine, setups: setups, auth: auth, deadline: deadline))
        } catch let error as EngineOpeningError {
            let code: FeathersError.Code = error.isTimeout ? .timeout : .unavailable
            let reported = FeathersError(code, error.description, execution: .neverSent)
            return .failed(Disconnection(.transportError(error.description), error: reported))
        } catch is CancellationError where isStopped {
            return .failed(Disconnection(.clientDisconnect))
        } catch let error as FeathersError {
            return .failed(Disconnection(.transportError(error.message), error: error))
        } catch {
            // Errors thrown by the application's closures may contain anything, so only the type is named.
            let message = "The payload or the headers of the connection could not be created (\(type(of: error)))"
            let reported = FeathersError(.unavailable, message, execution: .neverSent, cause: error)
            return .failed(Disconnection(.transportError(message), error: reported))
        }
    }

    /// Runs the closures of the application and of the plugins. They have as much time as the attempt that follows.
    private func payloadAndHeaders(_ setups: [ConnectionSetup]) async throws -> (JSONObject?, HTTPHeaders) {
        guard options.auth != nil || options.headers != nil || !setups.isEmpty else { return (nil, HTTPHeaders()) }
        let limit = options.connectTimeout
        let message = "The payload or the headers of the connection were not created within \(limit)"
        return try await timebase.run(atMost: limit, orThrow: FeathersError(.timeout, message, execution: .neverSent)) {
            (try await self.options.auth?(), try await self.headers(setups))
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

    @inline(never)
    private func live(_ session: OpenedSession) async -> Disconnection {
        let (connection, connect) = join(session)
        return await withDiscardingTaskGroup { group in
            group.addTask {
                // Weak, because the engine keeps the closures. An open connection is retained by the client and by this
                // method.
                await connection.engine.run { [weak connection] packet in
                    if let connection { self.received(packet, over: connection) }
                } taking: { [weak connection] text in
                    if let connection { self.received(text, over: connection) }
                    return true
                } onReadEnd: { [weak connection] in
                    if let connection { self.readEnded(over: connection) }
                } onStart: {
                    // Sent only now, so that no packet after the response has to wait for this task to run.
                    if let connect { self.send([connect], over: connection) }
                } onEnd: { [weak connection] closure in
                    guard let connection else { return }
                    self.readEnded(over: connection)
                    self.gone(connection, closure)
                }
            }
            group.addTask { await self.prepare(connection) }
            await keepTime { !connection.ended.isSettled }
            // Before the connection ends, only a cancellation of the task ends `keepTime`.
            if !connection.ended.isSettled { lose(connection, Disconnection(.clientDisconnect, saysGoodbye: true)) }
            let end = connection.ended.current ?? Disconnection(.clientDisconnect)
            if end.saysGoodbye {
                await keepTime(until: timebase.now + Self.goodbyeTime) { !connection.isGone.load(ordering: .acquiring) }
            }
            group.cancelAll()
            return end
        }
    }

    private func gone(_ connection: SocketIOConnection, _ closure: EngineClosure) {
        connection.isGone.store(true, ordering: .releasing)
        lose(connection, Disconnection(DisconnectReason(closure.reason)), unsent: closure.unsent)
        wakeTimer()
    }

    /// Makes a session's connection the current one.
    /// - Returns: The connection and the frame that joins the namespace, or nil if it has already ended.
    @inline(never)
    private func join(_ session: OpenedSession) -> (SocketIOConnection, EngineFrame?) {
        let limits = SocketPacketDecoder.Limits(
            attachments: options.maximumAttachments, bytes: options.maximumMessageSize)
        let connection = SocketIOConnection(session.engine, setups: session.setups, limits: limits)
        let now = timebase.now
        let (packet, signal, isStopped) = state.withLock { state in
            state.current = Current(
                connection: connection, stage: .joining(until: session.deadline),
                heartbeat: EngineSession(handshake: connection.engine.handshake, now: now))
            return (state.session.engineOpened(auth: session.auth), state.alarm.signal, state.run.stop.isSettled)
        }
        signal.resolve(())
        do throws(JSONSerializationError) {
            if !isStopped { return (connection, try packet.frame()) }
            lose(connection, Disconnection(.clientDisconnect, saysGoodbye: true))
        } catch {
            let message = "The payload of the connection cannot be written as JSON"
            lose(connection, Disconnection(.transportError(message), saysGoodbye: true, error: .refused(message)))
        }
        return (connection, nil)
    }

    /// Runs the plugins' preparation as soon as the connection is joined, then opens it for all calls, and runs the
    /// plugins' tasks until it ends.
    private func prepare(_ connection: SocketIOConnection) async {
        guard let recovered = try? await connection.joined.value() else { return }
        await run(on: connection) {
            for setup in connection.setups where !Task.isCancelled {
                await setup.prepare { try await self.call($0, over: connection) }
            }
        }
        guard !Task.isCancelled, open(connection, recovered: recovered) else { return }
        state.withLock { $0.run.outcome }.resolve(())
        await run(on: connection) {
            await withTaskGroup(of: Void.self) { group in
                for setup in connection.setups {
                    group.addTask { await setup.accompany { try await self.call($0, over: connection) } }
                }
            }
        }
    }

    /// Runs a task of the plugins, and cancels it when the connection ends. Does nothing if there are no plugins.
    private func run(on connection: SocketIOConnection, _ body: @escaping @Sendable () async -> Void) async {
        guard !connection.setups.isEmpty else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { _ = try? await connection.ended.value() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Takes the waiting calls in the same critical section that changes the status and lets later calls go out
    /// immediately. So no call overtakes another, and no call completes before the status says that the connection is
    /// open.
    private func open(_ connection: SocketIOConnection, recovered: Bool) -> Bool {
        var departure = Departure()
        let now = timebase.now
        let isOpen = state.withLock { state in
            guard state.isCurrent(connection), state.current?.stage == .preparing else { return false }
            state.current?.stage = .open
            state.openedAt = now
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

    /// Ends a connection for all its users. A no-op if it has ended. The frames of the calls in `unsent` are known to
    /// have never been sent.
    func lose(_ connection: SocketIOConnection, _ end: Disconnection, unsent: [Int] = []) {
        var isJoined = false
        let calls: [CallTable<Waiter>.Call]? = state.withLock { state in
            guard let current = state.current, current.connection === connection else { return nil }
            isJoined = state.session.isJoined
            state.current = nil
            if state.run.outcome.isSettled { state.run.outcome = Promise() }
            state.session.engineClosed()
            return state.calls.connectionLost(unsent: unsent + current.refused + current.outbox.compactMap(\.call))
        }
        guard let calls else { return }
        // Sent directly rather than through the outbox: another thread may be writing the outbox, and drops the rest of
        // it. Writing a packet without data cannot fail.
        if isJoined, end.reason == .clientDisconnect,
            let frame = try? SocketPacket(.disconnect, namespace: options.namespace).frame()
        {
            try? connection.engine.sendNow([frame])
        }
        connection.engine.close()
        let why = "The connection was lost before the response arrived: \(end.reason.refusalText)"
        for call in calls {
            let execution: FeathersError.Execution = call.unsent == nil ? .mayHaveExecuted : .neverSent
            call.waiter.resume(throwing: FeathersError(.unavailable, why, execution: execution, cause: end.error))
        }
        connection.joined.fail(end.error)
        connection.ended.resolve(end)
        wakeTimer()
    }

    /// Retires the current connection: from now on, it carries only calls that end it. Takes no other action.
    /// - Returns: Whether there is a connection.
    func retire() -> Bool {
        state.withLock { state in
            // The server must not replay the events that this user has missed to the next user.
            state.session.forget()
            guard let stage = state.current?.stage else { return false }
            state.current?.stage = .retired
            if stage == .open { status.enqueue(.connecting(attempt: 1)) }
            return true
        }
    }

    /// Ends a retired connection, so that the next one opens.
    func replace() {
        let connection: SocketIOConnection? = state.withLock { state in
            guard state.current?.stage == .retired else { return nil }
            // Forgotten again, because the response to CONNECT may have arrived since ``retire()``.
            state.session.forget()
            return state.current?.connection
        }
        status.deliver()
        if let connection { lose(connection, Disconnection(.clientDisconnect, saysGoodbye: true, isReplaced: true)) }
    }

    /// Returns whether a plugin wants another attempt after an otherwise final end. Stops asking plugins when the run
    /// is stopped.
    func reconnects(after end: Disconnection) async -> Bool {
        guard case .refused = end.reason else { return false }
        let (setups, stop, settled) = state.withLock { ($0.setups, $0.run.stop, Promise<Void>()) }
        guard !setups.isEmpty else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                defer {
                    settled.resolve(())
                    self.wakeTimer()
                }
                for setup in setups where !Task.isCancelled {
                    if await setup.reconnects(end.reason) { return true }
                }
                return false
            }
            await keepTime { !settled.isSettled && !stop.isSettled }
            group.cancelAll()
            let isWanted = await group.next() ?? false
            return isWanted && !stop.isSettled
        }
    }

    private enum Opening: Sendable {
        case opened(OpenedSession)
        case failed(Disconnection)
    }
}

/// A newly opened Engine.IO session, and what is needed to join the namespace.
private struct OpenedSession: Sendable {
    let engine: any EngineConnection
    let setups: [ConnectionSetup]
    let auth: JSONObject?
    /// The deadline of the attempt to connect, which opening the session and joining the namespace share.
    let deadline: Duration
}
