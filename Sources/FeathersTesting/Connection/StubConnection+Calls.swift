import FeathersCore
import FeathersSupport
import Foundation

extension StubConnection {
    /// Sends a call as soon as the connection is open, and waits for its response.
    func call(_ request: ServiceRequest) async throws -> JSONValue {
        try Task.checkCancellation()
        let arrived = Locked<Int?>(nil)
        let outcome: Result<JSONValue, any Error>
        do {
            outcome = .success(
                try await clock.run(
                    atMost: request.params.timeout ?? callTimeout,
                    orThrow: arrived.withLock { $0 } == nil
                        ? FeathersError(.timeout, "No connection was opened in time", execution: .neverSent)
                        : FeathersError.unansweredStub
                ) {
                    let arrival = try await self.arrive(request)
                    arrived.withLock { $0 = arrival.taken.number }
                    return try await self.answer(arrival)
                })
        } catch {
            outcome = .failure(error)
        }
        if let number = arrived.withLock({ $0 }) { registry.finish(number, outcome) }
        return try outcome.get()
    }

    /// Sends a plugin's call over a connection that other calls cannot use yet.
    func send(_ request: ServiceRequest, over link: Int) async throws -> JSONValue {
        guard line.current.link == link else { throw FeathersError.notConnected(line.current.end.reason) }
        let taken = try take(request, over: link)
        let arrival = StubLine.Arrival(taken: taken, link: link)
        return try await registry.perform(taken) { _ in
            try await clock.run(atMost: request.params.timeout ?? callTimeout, orThrow: FeathersError.unansweredStub) {
                try await self.answer(arrival)
            }
        }
    }

    /// Releases the waiting calls in order, and atomically marks the connection open once none is waiting.
    /// - Returns: Whether the connection is open.
    func releaseCalls(over link: Int, recovered: Bool) -> Bool {
        release(over: link, where: { _ in true }) { line in
            (line.isStanding, line.standingCount) = (true, line.standingCount + 1)
            line.statuses.append(.connected(recovered: recovered))
        }
    }

    /// Releases the calls that sign in or log out, including later ones, while the connection is being prepared.
    func releaseSessionCalls(over link: Int) {
        _ = release(over: link, where: \.isSession) { $0.isAccepted = true }
    }

    private func release(
        over link: Int, where isMatch: @Sendable (StubLine.WaitingCall) -> Bool,
        onceEmpty: @Sendable (inout StubLine) -> Void
    ) -> Bool {
        while true {
            let batch: [StubLine.WaitingCall]? = line.update { line in
                guard line.link == link, !line.isRetired else { return nil }
                // The app may be about to report the change of user itself.
                line.failUnsent { !$0.isCurrent }
                let batch = line.queue.filter(isMatch)
                if batch.isEmpty { onceEmpty(&line) }
                return batch
            }
            guard let batch else { return false }
            guard !batch.isEmpty else { return true }
            for call in batch {
                guard let taken = try? take(call.request, over: link) else { continue }
                let isWaiting = line.update { $0.release(call.id, StubLine.Arrival(taken: taken, link: link)) }
                if !isWaiting { registry.finish(taken.number, .failure(CancellationError())) }
            }
        }
    }

    private func arrive(_ request: ServiceRequest) async throws -> StubLine.Arrival {
        try request.checkSender()
        let id = line.update { $0.nextCallID() }
        return try await withTaskCancellationHandler {
            // A cancellation either is seen here, or finds the call in the queue.
            switch line.update({ line in Task.isCancelled ? nil : line.admit(request, id) }) {
            case .goes(let link): return StubLine.Arrival(taken: try take(request, over: link), link: link)
            case .waits: return try await arrival(of: id, request)
            case .fails(let reason): throw FeathersError.notConnected(reason)
            case nil: throw CancellationError()
            }
        } onCancel: {
            // Remove the call immediately, so that a connection opened now does not send it.
            line.update { line in line.queue.removeAll { $0.id == id } }
        }
    }

    /// Waits until a connection takes a call from the queue.
    private func arrival(of id: Int, _ request: ServiceRequest) async throws -> StubLine.Arrival {
        do {
            try await line.wait { line in !line.queue.contains { $0.id == id } }
            if line.current.arrivals[id] == nil { try Task.checkCancellation() }
        } catch {
            let arrival = line.update { line in
                line.queue.removeAll { $0.id == id }
                return line.arrivals.removeValue(forKey: id)
            }
            if let arrival { registry.finish(arrival.taken.number, .failure(error)) }
            throw error
        }
        if line.update({ $0.stale.remove(id) }) != nil { throw FeathersError.senderChanged(request) }
        guard let arrival = line.update({ $0.arrivals.removeValue(forKey: id) }) else {
            throw FeathersError.notConnected(line.current.end.reason)
        }
        return arrival
    }

    /// Records a call as arrived, unless its user has changed. Calls arrive one at a time, as on a wire: a call that a
    /// log-out did not stop arrives before the log-out.
    private func take(_ request: ServiceRequest, over link: Int) throws -> StubRegistry<ServiceRequest, JSONValue>.Taken
    {
        // Recursive, because a stub may drop the connection or emit events.
        try arriving.withLock {
            try request.checkSender()
            // A call that is sent over a connection never arrives over the next one.
            let current = line.current
            guard current.link ?? link == link else { throw FeathersError.notConnected(current.end.reason) }
            return registry.take(request)
        }
    }

    /// Runs the stub unless the connection is lost, and pushes the events for its changes.
    private func answer(_ arrival: StubLine.Arrival) async throws -> JSONValue {
        let endings = line.current.endings
        let result = try await racing(arrival.taken.work) {
            try await self.line.wait { $0.link != arrival.link || $0.endings != endings }
            if self.line.current.link == arrival.link {
                let message = "The app was shut down before the response arrived"
                return .failure(FeathersError(.unavailable, message, execution: .mayHaveExecuted))
            }
            let message = "The connection was lost before the response arrived: \(self.line.current.end.reason)"
            return .failure(FeathersError(.unavailable, message, execution: .mayHaveExecuted))
        }
        if pushes(arrival.taken), let name = EventName(endOf: arrival.taken.request.method) {
            for record in result.array ?? [result] {
                emit(ServiceEvent(path: arrival.taken.request.path, name: name, data: record))
            }
        }
        return result
    }

    /// Pushes an event over the connection. Without a connection, only a recovered connection delivers it.
    /// - Parameter link: The connection for whose user the event is; nil for the current one.
    func emit(_ event: ServiceEvent, over link: Int? = nil) {
        delivering.withLock {
            let sink = line.update { line in
                link.map { $0 == line.link ?? line.linkCount } ?? true ? line.receiver(of: event) : nil
            }
            sink?.receive(event)
        }
    }

    /// Ends a retired connection, so that the next one opens.
    func replace() { delivering.withLock { line.update { $0.replace() } } }
}

extension FeathersError {
    fileprivate static func notConnected(_ reason: DisconnectReason) -> FeathersError {
        FeathersError(.unavailable, "There is no connection: \(reason)", execution: .neverSent)
    }
}
