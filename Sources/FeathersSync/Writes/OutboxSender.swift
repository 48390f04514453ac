import FeathersCore
import FeathersSupport
import Foundation

/// Sends the writes of an outbox through an app.
struct OutboxSender: Sendable {
    let outbox: Outbox
    let app: FeathersApp

    /// Sends writes until the task is cancelled. While another sender runs, waits for its end.
    func run() async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let ended = Promise<Void>()
        while true {
            let isConnected = app.connectionStatus?.isConnected ?? true
            let other: Promise<Void>? = outbox.changeState { state in
                if let sender = state.sender { return sender.ended }
                state.sender = (wake, ended)
                state.queue.gate.isConnected = isConnected
                state.queue.start()
                return nil
            }
            guard let other else { break }
            do { try await other.value() } catch { return }
        }
        // The writes of the stored token's user wait until the token has been read.
        _ = await app.resolvedIdentity()
        await withDiscardingTaskGroup { group in
            group.addTask { await followConnection() }
            for await _ in wakes {
                await takeSignedOutWrites()
                let (failures, items) = takeOrders()
                for failure in failures { group.addTask { await ask(about: failure) } }
                for item in items { group.addTask { await send(item) } }
                // Taking work changes the state, so subscribers are notified.
                if !failures.isEmpty || !items.isEmpty { outbox.changeState { _ in } }
            }
            group.cancelAll()
        }
        outbox.changeState { state in
            state.sender = nil
            state.queue.gate.stop()
        }
        ended.resolve(())
    }

    /// Gives the writes that were queued while no one was signed in to the signed-in user. Nothing is sent for a user to
    /// whom it does not belong on disk: after a restart, another one may sign in.
    private func takeSignedOutWrites() async {
        guard let identity = outbox.withState({ $0.queue.nextOwner }) else { return }
        do {
            try await outbox.recordEvent(.taken(by: identity))
        } catch {
            app.diagnostics.log(
                .error, .outbox, "Writes of no user are not sent because the outbox file cannot be written",
                error: error)
        }
    }

    private func takeOrders() -> ([OutboxFailure], [OutboxQueue.Item]) {
        let now = outbox.timebase.now
        return outbox.withState { state in
            let (failures, items) = (state.queue.takeUnasked(), state.queue.takeSendable(at: now))
            return (failures, items)
        }
    }

    private func followConnection() async {
        for await status in app.connectionStatusUpdates() {
            outbox.changeState { $0.queue.gate.isConnected = status.isConnected }
        }
    }

    private func ask(about failure: OutboxFailure) async {
        defer { outbox.changeState { $0.queue.asked(failure.write.id) } }
        var failure = failure
        if failure.reason == .conflict, let response = await serverRecord(of: failure.write) {
            (failure.current, failure.entityTag) = (response.record, response.tag)
            let compared = failure
            outbox.changeState { state in
                state.queue.compared(compared)
                state.show(compared.write.id)
            }
        }
        failure = outbox.withState { [failure] in $0.stores.offeringCandidates(failure) }
        guard let decision = await outbox.outboxOptions.decide(failure), !Task.isCancelled else { return }
        do {
            try await outbox.decide(decision, for: failure.write.id)
        } catch {
            app.diagnostics.log(.error, .outbox, "A decision could not be recorded", error: error)
        }
    }
}

extension OutboxSender {
    /// Reads the record of a write from the server; nil if it does not exist or cannot be read.
    private func serverRecord(of write: OutboxWrite) async -> (record: JSONValue, tag: String?)? {
        guard let id = write.recordID else { return nil }
        var params = Params(route: write.route, timeout: outbox.outboxOptions.attemptTimeout)
        (params.readsFromServer, params.isLive) = (true, true)
        let request = ServiceRequest(path: write.path, method: .get, id: id, params: params)
        guard let response = try? await response(to: request, for: write) else { return nil }
        return (response.result, EntityTags.tag(of: response, to: request))
    }
}

// MARK: - Attempts

extension OutboxSender {
    /// The outcome of an attempt.
    private enum Attempt: Sendable {
        case succeeded(ServerResult)
        case failed(FeathersError)
        /// The app shut down before the attempt ended.
        case interrupted
    }

    /// Makes one attempt: records its beginning, calls the service, and records the outcome.
    private func send(_ item: OutboxQueue.Item) async {
        let id = item.write.id
        let service = outbox.outboxOptions.service(at: item.write.path)
        let isKeyed = service.recognizesRepetition(of: item.write)
        do {
            // If the process dies after this point, the write may have been executed.
            try await outbox.recordEvent(.begun(id))
            // If the app has shut down meanwhile, nothing was sent.
            try Task.checkCancellation()
        } catch {
            if !(error is CancellationError) {
                app.diagnostics.log(
                    .error, .outbox, "Nothing is sent because the outbox file cannot be written", error: error)
            }
            let notBegun = FeathersError(.unavailable, "The attempt did not begin", execution: .neverSent)
            return await deferred(item, SendVerdict(notBegun, isKeyed: isKeyed))
        }
        switch await attempt(item, service) {
        case .succeeded(let result):
            let end = outbox.writeEnd(of: item.write, with: result, for: app.currentSender)
            try? await outbox.recordEvent(.ended(end))
        case .failed(let error):
            let verdict = SendVerdict(error, isKeyed: isKeyed)
            app.diagnostics.log(
                .notice, .outbox, "'\(item.write.method)' of service '\(item.write.path)' failed",
                [.attempt: .integer(item.attempts)],
                error: error)
            guard case .ask(let reason) = verdict.course else { return await deferred(item, verdict) }
            let failure = OutboxFailure(
                write: item.write, reason: reason, error: error.stored(),
                mayHaveExecuted: item.mayHaveExecuted || verdict.execution == .mayHaveExecuted)
            try? await outbox.recordEvent(.failed(failure))
        case .interrupted:
            try? await outbox.recordEvent(.deferred(id, isKeyed ? .again : .ask(.unknown), .mayHaveExecuted))
        }
    }

    /// Schedules another attempt for a write.
    private func deferred(_ item: OutboxQueue.Item, _ verdict: SendVerdict) async {
        let id = item.write.id
        let timebase = outbox.timebase
        try? await outbox.recordEvent(.deferred(id, verdict.course, item.execution.and(verdict.execution)))
        guard let moment = outbox.withState({ $0.queue.nextAttempt(of: id) }) else { return }
        // The write is already waiting. This task only measures the delay.
        try? await timebase.sleep(until: moment)
        let later = timebase.now
        outbox.changeState { $0.queue.timePassed(id, at: later) }
    }

    private func attempt(_ item: OutboxQueue.Item, _ service: OutboxServiceOptions) async -> Attempt {
        if let error = outbox.withState({ $0.names.refusal(of: item.write) }) { return .failed(error) }
        do {
            return .succeeded(
                try await respond(
                    to: service.request(
                        for: item.write, timeout: outbox.outboxOptions.attemptTimeout,
                        carriesFields: app.connectionStatus == nil || app.isPathTaken(item.write.path)),
                    for: item.write))
        } catch let error as FeathersError {
            if let record = await recordMade(by: item, service, refusedWith: error) { return .succeeded(record) }
            return .failed(error)
        } catch is CancellationError where Task.isCancelled {
            return .interrupted
        } catch {
            // A hook's own error, or a cancellation from elsewhere, says nothing about the call's outcome.
            return .failed(
                FeathersError(
                    .generalError, "The call failed with '\(type(of: error))'", execution: .mayHaveExecuted,
                    cause: error))
        }
    }

    /// Returns the record that an earlier attempt at a `create` made, if a repetition is refused because its id is
    /// taken.
    private func recordMade(
        by item: OutboxQueue.Item, _ service: OutboxServiceOptions, refusedWith error: FeathersError
    ) async -> ServerResult? {
        let write = item.write
        guard item.mayHaveExecuted, write.method == .create, error.execution == .answered,
            [.conflict, .badRequest].contains(error.code),
            let property = service.recordIDProperty, let id = write.data?[property].flatMap({ ServiceID($0) })
        else { return nil }
        let params = Params(route: write.route, timeout: outbox.outboxOptions.attemptTimeout)
        return try? await respond(
            to: ServiceRequest(path: write.path, method: .get, id: id, params: params), for: write)
    }

    private func respond(to request: ServiceRequest, for write: OutboxWrite) async throws -> ServerResult {
        let sender = app.currentSender
        let response = try await response(to: request, for: write)
        return ServerResult(response.result, of: write, sentAs: response[SentAs.self] ?? sender)
    }

    private func response(to request: ServiceRequest, for write: OutboxWrite) async throws -> ServiceResponse {
        var request = request
        let sender = app.currentSender
        guard write.identity == sender.identity else { throw FeathersError.senderChanged(request) }
        // If the user changes before the request is sent, the call fails: a signed-out write must not be sent as a user
        // unnoticed.
        request.sender = sender
        request.isQueuedWrite = true
        let response = try await app.service(request.path).respond(to: request)
        // What such a service responds to a write says nothing about what it responds to a `get`.
        guard request.method == .get || !app.servicesWithOtherResponses.contains(request.path) else { return response }
        let options = outbox.outboxOptions.service(at: request.path)
        try request.checkRecord(
            in: response.result,
            write.idProperty.map { [$0] } ?? ["id", "_id"] + [options.recordIDProperty].compactMap(\.self))
        return response
    }
}
