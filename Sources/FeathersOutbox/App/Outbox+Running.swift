public import FeathersCore
import FeathersSupport

extension Outbox {
    /// Sends until the task is cancelled; does nothing where it is done already.
    ///
    /// ``FeathersApp/useOutbox(_:)`` has it done while the app lives; an app that calls ``FeathersApp/connect()`` by hand runs it itself.
    public func run(in app: FeathersApp) async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let isConnected = app.connectionStatus?.isConnected ?? true
        let isFirst = change { state in
            guard state.wake == nil else { return false }
            state.wake = wake
            state.queue.changeGate { $0.isConnected = isConnected }
            state.queue.start()
            return true
        }
        guard isFirst else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followConnection(of: app) }
            group.addTask { await self.followSignIns(of: app) }
            for await _ in wakes {
                let (failures, items) = takeOrders()
                for failure in failures { group.addTask { await self.ask(about: failure, in: app) } }
                for item in items { group.addTask { await self.send(item, in: app) } }
                // Whoever takes work changes the state.
                if !failures.isEmpty || !items.isEmpty { change { _ in } }
            }
            group.cancelAll()
        }
        change { state in
            state.wake = nil
            state.queue.changeGate { $0.stop() }
        }
    }

    private func takeOrders() -> ([OutboxFailure], [OutboxQueue.Item]) {
        let now = timebase.now
        return withState { ($0.queue.takeUnasked(), $0.queue.takeSendable(at: now)) }
    }

    private func followConnection(of app: FeathersApp) async {
        for await status in app.connectionStatusUpdates() {
            change { $0.queue.changeGate { $0.isConnected = status.isConnected } }
        }
    }

    private func followSignIns(of app: FeathersApp) async {
        await app[SignIns.self]? {
            self.change { $0.queue.changeGate { $0.signedIn() } }
        }
    }

    private func ask(about failure: OutboxFailure, in app: FeathersApp) async {
        guard let decision = await options.decide(failure), !Task.isCancelled else { return }
        do {
            try await decide(decision, for: failure.write.id)
        } catch {
            app.diagnostics.log(.error, .outbox, "a decision was not noted", error: error)
        }
    }
}

extension ConnectionStatus {
    fileprivate var isConnected: Bool {
        if case .connected = self { true } else { false }
    }
}

extension DiagnosticDomain {
    /// The outbox.
    public static let outbox = DiagnosticDomain(rawValue: "outbox")
}
