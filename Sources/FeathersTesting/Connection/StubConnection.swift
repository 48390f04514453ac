import FeathersCore

/// The connection of a stub transport: opens, prepares and ends it as a real one would be.
final class StubConnection: Sendable {
    let line = ObservedState(StubLine())
    let book: StubBook<ServiceRequest, JSONValue>
    /// Whether the server tells of changes that calls have made.
    let pushes: @Sendable (StubBook<ServiceRequest, JSONValue>.Taken) -> Bool

    init(
        book: StubBook<ServiceRequest, JSONValue>, pushes: @escaping @Sendable (StubBook<ServiceRequest, JSONValue>.Taken) -> Bool
    ) {
        self.book = book
        self.pushes = pushes
    }

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
        while !isStopped {
            let stood = line.update { line in
                line.statuses.append(.connecting(attempt: failures + 1))
                return line.standingCount
            }
            let end = await connectOnce()
            if isStopped { break }
            let current = line.update { line in
                (line.end, line.endCount) = (end, line.endCount + 1)
                return line
            }
            if stopsAtFirstFailure, current.standingCount == stoodBefore { return end }
            if end.isFinal, await !isWanted(after: end.reason, by: current.setups) { return end }
            failures = (current.standingCount > stood ? 0 : failures) + 1
            line.update { [failures] in $0.statuses.append(.waiting(attempt: failures, delay: .zero)) }
            // Cancelled or not, whoever is to stop is asked above.
            try? await line.wait { $0.isStopping || $0.isAccepting }
        }
        return StubLineEnd(.clientDisconnect)
    }

    private var isStopped: Bool { Task.isCancelled || line.current.isStopping }

    private func isWanted(after reason: DisconnectReason, by setups: [ConnectionSetup]) async -> Bool {
        for setup in setups where await setup.reconnects(reason) { return true }
        return false
    }

    /// One attempt to connect and, where it succeeds, the whole life of the connection.
    private func connectOnce() async -> StubLineEnd {
        let setups = line.current.setups
        do {
            let headers = try await racing {
                var headers: [String: String] = [:]
                for setup in setups { headers.merge(try await setup.headers()) { $1 } }
                return headers
            } against: {
                try await self.line.wait(until: \.isStopping)
                return CancellationError()
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
        let send: ConnectionSetup.Send = { try await self.send($0, over: link) }
        for setup in setups { await setup.prepare(send) }
        guard releaseCalls(over: link, recovered: recovered) else { return }
        await withTaskGroup(of: Void.self) { group in
            for setup in setups { group.addTask { await setup.accompany(send) } }
        }
    }
}
