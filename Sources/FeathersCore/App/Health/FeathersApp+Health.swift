extension FeathersApp {
    /// How the app is: whether its calls reach whoever answers them, and since when.
    public var health: AppHealth {
        noteHealth()
        return healthMonitor.current
    }

    /// How the app is and then every change of it, while the app lives: during ``run()`` and ``withFeathersApp(_:_:)``.
    public func healthUpdates() -> AsyncStream<AppHealth> {
        noteHealth()
        return healthMonitor.updates()
    }

    /// - Parameter hasStood: whether the connection stood in the meantime, which may have been too short to be seen by looking.
    func noteHealth(hasStood: Bool = false) {
        healthMonitor.note { last in
            let connection = connectionStatus
            return (state(after: hasStood && last == .starting ? .ready : last, connection), connection)
        }
    }

    /// Notes every change of the connection until the task is cancelled.
    func followConnection() async {
        for await status in connectionStatusUpdates() {
            if case .connected = status { noteHealth(hasStood: true) } else { noteHealth() }
        }
    }

    private func state(after last: AppHealth.State, _ connection: ConnectionStatus?) -> AppHealth.State {
        if gate.isClosed { return gate.isFinished ? .stopped : .shuttingDown }
        let (phase, hasLived) = withState { ($0.phase, $0.background.lastLife > 0) }
        let atRest: AppHealth.State = hasLived ? .stopped : .starting
        if phase == .settingUp { return .starting }
        switch connection {
        case nil: return phase == .setUp ? .ready : atRest
        case .connected: return .ready
        case .closed(let reason): return .failed(reason)
        case .connecting, .waiting: return last == .ready || last == .reconnecting ? .reconnecting : .starting
        // Set up, it is about to connect.
        case .offline: return phase == .setUp && last == .starting ? .starting : atRest
        }
    }
}
