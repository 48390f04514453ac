import FeathersCore
import FeathersSupport
import Foundation

/// The connection of a stub transport. It is opened, prepared, and ended like a real connection.
final class StubConnection: ConnectionClient {
    let line = ObservedState(StubLine())
    let registry: StubRegistry<ServiceRequest, JSONValue>
    /// Whether the server pushes events for the changes that calls make.
    let pushes: @Sendable (StubRegistry<ServiceRequest, JSONValue>.Taken) -> Bool
    /// The maximum duration of a call, unless the call sets its own.
    let callTimeout: Duration?
    let clock: RelativeClock
    let arriving = NSRecursiveLock()
    /// Held while an event is delivered, so that none is delivered after its connection was replaced.
    let delivering = NSRecursiveLock()

    init(
        registry: StubRegistry<ServiceRequest, JSONValue>, callTimeout: Duration?, clock: any Clock<Duration>,
        pushes: @escaping @Sendable (StubRegistry<ServiceRequest, JSONValue>.Taken) -> Bool
    ) {
        (self.registry, self.callTimeout, self.clock, self.pushes) = (
            registry, callTimeout, RelativeClock(clock), pushes
        )
    }

    func start() -> (isFirst: Bool, opened: @Sendable () async throws -> Void) {
        let (isFirst, stood, ended) = line.update { line in
            let isFirst = !line.isRunning
            if isFirst { line.life = .running(isStopping: false) }
            return (isFirst, line.standingCount, line.endCount)
        }
        return (isFirst, { try await self.waitForConnection(stood: stood, ended: ended) })
    }

    @concurrent
    func run(stopsAtFirstFailure: Bool) async throws {
        let end = await connectRepeatedly(stopsAtFirstFailure)
        let isOurs = end.reason == .clientDisconnect
        line.update { line in
            line.life = isOurs ? .idle : .closed(end.reason)
            line.statuses.append(isOurs ? .offline : .closed(end.reason))
            line.end = end
            line.queue = []
        }
        if !isOurs { throw end.error }
    }

    private func connectRepeatedly(_ stopsAtFirstFailure: Bool) async -> StubLineEnd {
        let stoodBefore = line.current.standingCount
        var failures = 0
        var isRepeated = false
        while !isStopped {
            let stood = line.update { line in
                let connecting = ConnectionStatus.connecting(attempt: failures + 1)
                if line.statuses.last != connecting { line.statuses.append(connecting) }
                return line.standingCount
            }
            let end = await connectOnce()
            if isStopped { break }
            if line.current.isReplaced, end.reason == .clientDisconnect { continue }
            let hasStood = line.current.standingCount > stoodBefore
            let isFirst = stopsAtFirstFailure && !hasStood
            // Waiting callers learn the reason for the failure, even if the attempts continue.
            line.update { line in
                line.end = end
                if !isFirst { line.endCount += 1 }
            }
            // A plugin can request that a failed first attempt be repeated once.
            let isWanted = end.isFinal && !(isFirst && isRepeated) ? await isWanted(after: end.reason) : false
            if isStopped { break }
            if !isWanted, isFirst || end.isFinal { return end }
            isRepeated = true
            failures = (line.current.standingCount > stood ? 0 : failures) + 1
            line.update { [failures] in $0.statuses.append(.waiting(attempt: failures, delay: .zero, after: end.reason))
            }
            // Cancellation is handled at the start of the loop.
            if !isFirst { try? await line.wait { $0.isStopping || $0.isAccepting } }
        }
        return StubLineEnd(.clientDisconnect)
    }

    private var isStopped: Bool { Task.isCancelled || line.current.isStopping }

    private func isWanted(after reason: DisconnectReason) async -> Bool {
        let answer = try? await unlessStopped {
            for setup in self.line.current.setups where await setup.reconnects(reason) { return true }
            return false
        }
        return answer ?? false
    }

    /// Runs a plugin's function until the connection is told to stop.
    private func unlessStopped<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await racing(body) {
            try await self.line.wait(until: \.isStopping)
            return .failure(CancellationError())
        }
    }

    /// Makes one attempt to connect. If it succeeds, returns when the connection ends.
    private func connectOnce() async -> StubLineEnd {
        let setups = line.current.setups
        do {
            let headers = try await unlessStopped {
                var headers: [String: String] = [:]
                for setup in setups {
                    // A field set by an earlier plugin takes precedence.
                    for (name, value) in try await setup.headers()
                    where !headers.keys.contains(where: { $0.lowercased() == name.lowercased() }) {
                        headers[name] = value
                    }
                }
                return headers
            }
            switch line.update({ $0.open(headers: headers) }) {
            case .failed(let end): return end
            case .accepted(let link, let recovered): return await live(link, recovered: recovered, setups)
            }
        } catch is CancellationError {
            return StubLineEnd(.clientDisconnect)
        } catch {
            let message = "The connection's headers could not be created (\(type(of: error)))"
            return StubLineEnd(
                .transportError(message), FeathersError(.unavailable, message, execution: .neverSent, cause: error))
        }
    }

    private func live(_ link: Int, recovered: Bool, _ setups: [ConnectionSetup]) async -> StubLineEnd {
        accept(link, recovered: recovered)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.use(link, recovered: recovered, setups) }
            try? await line.wait { $0.link != link || $0.isStopping }
            line.update { $0.lose(link, .clientDisconnect) }
            group.cancelAll()
        }
        return line.current.end
    }

    /// Replays missed events, or reports a gap, before any event of the new connection.
    private func accept(_ link: Int, recovered: Bool) {
        line.update { $0.isReplaced = false }
        if link > 1, !recovered { line.current.sink?.receiveGap(.reconnected) }
        while true {
            // Waits while a call arrives over the previous connection.
            let (sink, missed) = arriving.withLock {
                line.update { line in
                    defer { line.missed = [] }
                    guard recovered, !line.missed.isEmpty else {
                        line.link = link
                        return (line.sink, [ServiceEvent]())
                    }
                    return (line.sink, line.missed)
                }
            }
            guard !missed.isEmpty else { return }
            for event in missed { sink?.receive(event) }
        }
    }

    /// Prepares a connection, releases the waiting calls, and runs the tasks that accompany the connection.
    private func use(_ link: Int, recovered: Bool, _ setups: [ConnectionSetup]) async {
        releaseSessionCalls(over: link)
        let send: ConnectionSetup.Send = { ServiceResponse(try await self.send($0, over: link)) }
        for setup in setups where !Task.isCancelled { await setup.prepare(send) }
        guard releaseCalls(over: link, recovered: recovered) else { return }
        await withTaskGroup(of: Void.self) { group in
            for setup in setups { group.addTask { await setup.accompany(send) } }
        }
    }
}

extension StubConnection {
    /// Waits for a connection after ``start()``, whichever caller is opening it.
    private func waitForConnection(stood: Int, ended: Int) async throws {
        try await line.wait { $0.isStanding || $0.standingCount > stood || $0.endCount > ended || !$0.isRunning }
        let current = line.current
        guard current.isStanding || current.standingCount > stood else { throw current.end.error }
    }

    func stop() async {
        line.update { if $0.isRunning { $0.life = .running(isStopping: true) } }
        // The connection ends even if the waiting task is cancelled.
        try? await line.wait { !$0.isRunning }
    }

    /// Returns the statuses, starting with the current one. Each reader receives all of them at its own pace.
    func statusUpdates() -> AsyncStream<ConnectionStatus> {
        let next = Locked(line.current.statuses.count - 1)
        return AsyncStream { [line] in
            let index = next.withLock { next in
                defer { next += 1 }
                return next
            }
            guard (try? await line.wait(until: { $0.statuses.count > index })) != nil else { return nil }
            return line.current.statuses[index]
        }
    }
}
