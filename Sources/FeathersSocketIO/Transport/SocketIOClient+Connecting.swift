import FeathersCore
import FeathersNetworking
import FeathersSupport

extension SocketIOClient {
    /// How long a good-bye may take before the connection is dropped.
    private static let goodbyeTime = Duration.seconds(1)

    /// One attempt to connect and, where it succeeds, the whole life of the connection.
    func connectOnce(_ stands: () -> Void) async -> LinkEnd {
        let setups = state.withLock { $0.setups }
        do {
            let (connection, auth) = try await openUnlessStopped(setups)
            return await live(connection, auth: auth, setups, stands)
        } catch let error as EngineOpeningError {
            let code: FeathersError.Code = error.isTimeout ? .timeout : .unavailable
            return LinkEnd(.transportError(error.description), error: FeathersError(code, error.description, execution: .neverSent))
        } catch is CancellationError {
            return LinkEnd(.clientDisconnect)
        } catch let error as FeathersError {
            return LinkEnd(.transportError(error.message), error: error)
        } catch {
            // What the application's functions throw may hold anything, so that only its type is named.
            let message = "The payload or the headers of the connection could not be made (\(type(of: error)))"
            return LinkEnd(.transportError(message), error: FeathersError(.unavailable, message, execution: .neverSent, cause: error))
        }
    }

    /// Opens a connection, and gives up as soon as nobody wants one any more.
    private func openUnlessStopped(
        _ setups: [ConnectionSetup]
    ) async throws -> (connection: any EngineConnection, auth: JSONObject?) {
        let stop = state.withLock { $0.stopSignal }
        return try await withThrowingTaskGroup(of: (connection: any EngineConnection, auth: JSONObject?)?.self) { group in
            group.addTask {
                let auth = try await self.options.auth?()
                let headers = try await self.headers(setups)
                return (try await self.opener.get().open(headers: headers, timeout: self.options.connectTimeout), auth)
            }
            group.addTask {
                try await stop.value()
                return nil
            }
            let first = await group.nextResult()
            group.cancelAll()
            if case .success(let opened?) = first { return opened }
            // A connection that opened in the very moment nobody wanted it any more.
            while let late = await group.nextResult() {
                if case .success(let opened?) = late { opened.connection.close() }
            }
            if case .failure(let error) = first { throw error }
            throw CancellationError()
        }
    }

    private func live(
        _ connection: any EngineConnection, auth: JSONObject?, _ setups: [ConnectionSetup], _ stands: () -> Void
    ) async -> LinkEnd {
        let limits = SocketPacketDecoder.Limits(attachments: options.maximumAttachments, bytes: options.maximumMessageSize)
        let link = Link(connection, setups: setups, limits: limits)
        return await withTaskGroup(of: Void.self) { group in
            join(link, auth: auth)
            group.addTask {
                let closure = await connection.run { self.received($0, over: link) }
                self.lose(link, LinkEnd(DisconnectReason(closure.reason)), unsent: closure.unsent)
            }
            let end = await stay(on: link, stands)
            if end.saysGoodbye, !Task.isCancelled {
                group.addTask { try? await self.timebase.sleep(for: Self.goodbyeTime) }
                await group.next()
            }
            group.cancelAll()
            return end
        }
    }

    /// Waits for a connection's end, with what goes on beside it.
    private func stay(on link: Link, _ stands: () -> Void) async -> LinkEnd {
        await withTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            if let recovered = try? await link.joined.value(), await prepare(link, recovered: recovered) {
                stands()
                for setup in link.setups {
                    group.addTask { await setup.accompany { try await self.call($0, over: link) } }
                }
            }
            do {
                return try await link.ended.value()
            } catch {
                sayGoodbye(link)
                return LinkEnd(.clientDisconnect)
            }
        }
    }

    /// Makes an open connection the one in use and joins the namespace.
    private func join(_ link: Link, auth: JSONObject?) {
        let now = timebase.now
        let (packet, signal, isStopped) = state.withLock { state in
            state.link = link
            state.engine = EngineSession(handshake: link.connection.handshake, now: now)
            (state.outbox, state.isDraining, state.refused, state.isOpen) = ([], false, [], false)
            state.joinDeadline = now + options.connectTimeout
            return (state.session.engineOpened(auth: auth), state.timerSignal, state.stopSignal.isSettled)
        }
        signal.resolve(())
        if isStopped { return sayGoodbye(link) }
        do throws(JSONSerializationError) {
            send([try SocketPacketEncoder.frame(of: packet)], over: link)
        } catch {
            let message = "The payload of the connection cannot be written as JSON"
            lose(link, LinkEnd(.transportError(message), saysGoodbye: true, error: .refused(message)))
        }
    }

    /// Ends a connection for everybody who uses it; does nothing for one that has ended.
    /// - Parameter unsent: calls whose frames are known never to have left.
    func lose(_ link: Link, _ end: LinkEnd, unsent: [Int] = []) {
        let calls: [CallTable<Waiter>.Call]? = state.withLock { state in
            guard state.link === link else { return nil }
            (state.link, state.engine, state.joinDeadline, state.isOpen) = (nil, nil, nil, false)
            if state.outcome.isSettled { state.outcome = Promise() }
            state.session.engineClosed()
            defer { (state.outbox, state.isDraining, state.refused) = ([], false, []) }
            return state.calls.connectionLost(unsent: unsent + state.refused + state.outbox.compactMap(\.call))
        }
        guard let calls else { return }
        link.connection.close()
        let why = "The connection was lost before the answer came: \(end.reason.explanation)"
        for call in calls {
            let execution: FeathersError.Execution = call.unsent == nil ? .mayHaveExecuted : .neverSent
            call.waiter.resume(throwing: FeathersError(.unavailable, why, execution: execution))
        }
        link.joined.fail(end.error)
        link.ended.resolve(end)
    }

    /// Leaves the namespace, then the connection.
    func sayGoodbye(_ link: Link) {
        let isJoined = state.withLock { $0.link === link && $0.session.isJoined }
        // A packet without data can always be written.
        if isJoined, let frame = try? SocketPacketEncoder.frame(of: SocketPacket(.disconnect, namespace: options.namespace)) {
            send([frame], over: link)
        }
        lose(link, LinkEnd(.clientDisconnect, saysGoodbye: true))
    }
}
