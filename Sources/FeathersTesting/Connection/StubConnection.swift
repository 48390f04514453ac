import FeathersCore
import FeathersSupport
import Foundation

/// The connection of a stub transport: opens, prepares and ends it as a real one would be.
final class StubConnection: Sendable {
    let line = ObservedState(StubLine())
    let book: StubRegistry<ServiceRequest, JSONValue>
    /// Whether the server tells of changes that calls have made.
    let pushes: @Sendable (StubRegistry<ServiceRequest, JSONValue>.Taken) -> Bool
    /// How long a call may take unless it says otherwise.
    let callTimeout: Duration?
    let clock: RelativeClock
    let arriving = NSRecursiveLock()

    init(
        book: StubRegistry<ServiceRequest, JSONValue>, callTimeout: Duration?, clock: any Clock<Duration>,
        pushes: @escaping @Sendable (StubRegistry<ServiceRequest, JSONValue>.Taken) -> Bool
    ) { (self.book, self.callTimeout, self.clock, self.pushes) = (book, callTimeout, RelativeClock(clock), pushes) }

    /// Takes the right to run; whoever has it must call ``run(stopsAtFirstFailure:)``.
    /// - Returns: whether nobody had it, and how many connections had stood and ended until now.
    func start() -> (isFirst: Bool, stood: Int, ended: Int) {
        line.update { line in
            let isFirst = !line.isRunning
            if isFirst { line.life = .running(isStopping: false) }
            return (isFirst, line.standingCount, line.endCount)
        }
    }

    /// Connects, and connects again whenever the server is back, until told to stop or the connection is closed for good.
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
                line.statuses.append(.connecting(attempt: failures + 1))
                return line.standingCount
            }
            let end = await connectOnce()
            if isStopped { break }
            let hasStood = line.current.standingCount > stoodBefore
            let isFirst = stopsAtFirstFailure && !hasStood
            // Whoever waits for the connection learns why there is none; the attempts may go on all the same.
            line.update { line in
                line.end = end
                if !isFirst { line.endCount += 1 }
            }
            // A plugin gets a first attempt repeated once.
            let isWanted = end.isFinal && !(isFirst && isRepeated) ? await isWanted(after: end.reason) : false
            if isStopped { break }
            if !isWanted, isFirst || end.isFinal { return end }
            isRepeated = true
            failures = (line.current.standingCount > stood ? 0 : failures) + 1
            line.update { [failures] in $0.statuses.append(.waiting(attempt: failures, delay: .zero, after: end.reason)) }
            // Cancelled or not, whoever is to stop is asked above.
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

    /// Runs what a plugin does, until nobody wants a connection any more.
    private func unlessStopped<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await racing(body) {
            try await self.line.wait(until: \.isStopping)
            return CancellationError()
        }
    }

    /// One attempt to connect and, where it succeeds, the whole life of the connection.
    private func connectOnce() async -> StubLineEnd {
        let setups = line.current.setups
        do {
            let headers = try await unlessStopped {
                var headers: [String: String] = [:]
                for setup in setups {
                    // What an earlier plugin has set stands.
                    for (name, value) in try await setup.headers()
                    where !headers.keys.contains(where: { $0.lowercased() == name.lowercased() }) { headers[name] = value }
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
            let message = "The headers of the connection could not be made (\(type(of: error)))"
            return StubLineEnd(.transportError(message), FeathersError(.unavailable, message, execution: .neverSent, cause: error))
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

    /// Replays what was missed, or says that something was, before any event of the new connection.
    private func accept(_ link: Int, recovered: Bool) {
        if link > 1, !recovered { line.current.sink?.receiveGap(.reconnected) }
        while true {
            let (sink, missed) = line.update { line in
                defer { line.missed = [] }
                guard recovered, !line.missed.isEmpty else {
                    line.link = link
                    return (line.sink, [ServiceEvent]())
                }
                return (line.sink, line.missed)
            }
            guard !missed.isEmpty else { return }
            for event in missed { sink?.receive(event) }
        }
    }

    /// Prepares a connection, lets the waiting calls go, and keeps what runs beside it.
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
    /// Waits for the connection that ``start()`` has begun, or that somebody else has.
    func waitForConnection(stood: Int, ended: Int) async throws {
        try await line.wait { $0.isStanding || $0.standingCount > stood || $0.endCount > ended || !$0.isRunning }
        let current = line.current
        guard current.isStanding || current.standingCount > stood else { throw current.end.error }
    }

    /// Ends the connection, or the attempt to get one, and returns when it has ended; does nothing where nothing runs.
    func stop() async {
        line.update { if $0.isRunning { $0.life = .running(isStopping: true) } }
        // Whoever is cancelled while waiting has still ended the connection.
        try? await line.wait { !$0.isRunning }
    }

    /// The statuses from the present one on, each reader at its own pace.
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
