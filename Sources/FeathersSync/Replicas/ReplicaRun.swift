// Locks: State of one run, in its task. What is known of a replica is in `StoredReplica`, under its lock.

import FeathersCore
import FeathersSupport
import Foundation

/// Keeps a replica up to date while the app runs, for one user after another.
struct ReplicaRun: Sendable {
    private let replica: StoredReplica
    private let app: FeathersApp

    init(_ replica: StoredReplica, _ app: FeathersApp) { (self.replica, self.app) = (replica, app) }

    /// The longest pause before the server is asked again after a failure.
    private static let longestPause = Duration.seconds(30)

    func run() async {
        while !Task.isCancelled, !replica.isRemoved {
            let sender = await app.resolvedSender()
            do { try await follow(sender) } catch {
                replica.set(nil)
                guard !Task.isCancelled, sender.isCurrent, !(error is ReplicaLost) else { continue }
                // The database cannot be used.
                warn(error)
                try? await replica.lists.clock.sleep(for: Self.longestPause)
            }
        }
        replica.setCurrent(false)
        replica.report { $0.isUpToDate = false }
    }

    /// Follows the records of a user until another one signs in.
    private func follow(_ sender: RequestSender) async throws {
        let (source, lists) = (replica.source, replica.lists)
        let store = app.liveStores.store(of: source.service, source.params.route, id: source.id, sender)
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard let open = try await replica.open(for: sender.identity) else {
            // Without a user, nothing tells whose records these are.
            for await _ in app.identityUpdates() where !sender.isCurrent || replica.isRemoved { return }
            return
        }
        let watch = store.watch(ReplicaWatch(open.key.service, replica.judge), wake)
        replica.setWatch(watch.id)
        replica.wakes(wake)
        defer {
            replica.setWatch(nil)
            replica.wakes(nil)
        }
        wake.yield()
        var pause = Duration.milliseconds(500)
        try await withThrowingDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            group.addTask { [replica] in
                while true {
                    do { try await lists.clock.sleep(for: replica.nextComparison) } catch { return }
                    store.change { $0.store.watches[watch.id]?.want(.now) }
                }
            }
            for await _ in wakes {
                let next = store.withState { $0.next }
                guard next == nil, sender.isCurrent, !replica.isRemoved else { return }
                if let urgency = store.withState({ $0.store.watches[watch.id]?.due }) {
                    try await wait(urgency)
                    do {
                        try await ReplicaSync(replica, app, watch).run()
                        pause = .milliseconds(500)
                    } catch {
                        guard !Task.isCancelled, !(error is ReplicaLost) else { throw error }
                        failed(error, watch)
                        let time = pause * Double.random(in: 0.5...1)
                        pause = min(pause * 2, Self.longestPause)
                        group.addTask {
                            try? await lists.clock.sleep(for: time)
                            store.change { $0.store.watches[watch.id]?.resume() }
                        }
                    }
                } else if store.withState({ $0.store.records.hasUnstored }) {
                    try await lists.clock.sleep(for: lists.store.writeDelay)
                    try await replica.save(store)
                }
            }
        }
    }

    /// Waits before the server is asked: changes are asked for together, a connection that is being opened begins with a
    /// gap, and the replicas of many devices do not ask at once after a server has restarted.
    private func wait(_ urgency: Window.Urgency) async throws {
        let lists = replica.lists
        if urgency == .soon { return try await lists.clock.sleep(for: .milliseconds(250)) }
        if app.isConnecting {
            try? await lists.clock.run(atMost: lists.store.responseDelay, orThrow: CancellationError()) { [app] in
                for await _ in app.connectionStatusUpdates() where !app.isConnecting { return }
            }
            try Task.checkCancellation()
        }
        guard replica.open?.head.isComplete == true, replica.progress.current.isUpToDate else { return }
        try await lists.clock.sleep(for: lists.store.replicaSpread * Double.random(in: 0...1))
    }

    private func failed(_ error: any Error, _ watch: LiveWatch) {
        replica.setCurrent(false)
        watch.store.withState { $0.store.watches[watch.id]?.failed() }
        let failure = replica.source.failure(error)
        let isNews = replica.progress.current.failure?.code != failure.code
        replica.report { ($0.failure, $0.isUpToDate) = (failure, false) }
        if isNews, !failure.saysUnreachable { warn(failure) }
    }

    private func warn(_ error: any Error) {
        let path = replica.source.service.path
        app.diagnostics.log(
            .warning, .localStore, "The replica of service '\(path)' cannot be brought up to date: \(error)",
            [.path: .string(path)], error: error)
    }
}

extension FeathersApp {
    /// Whether a running app is about to connect.
    fileprivate var isConnecting: Bool {
        guard hasPermanentConnection else { return false }
        return switch connectionStatus {
        case .offline, .connecting: true
        case nil, .connected, .waiting, .closed: false
        }
    }
}
