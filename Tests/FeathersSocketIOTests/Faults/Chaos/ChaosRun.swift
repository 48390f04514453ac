import FeathersCore
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

/// Callers, subscribers, a writer of events and bad weather, all at once over one connection.
struct ChaosRun {
    let line: ChaosLine
    let journal = ChaosJournal()
    private let run = UUID().uuidString
    private let server: URL
    private let proxy: FaultProxy

    init(_ line: ChaosLine, on backend: TestBackend) async throws {
        self.line = line
        server = try await backend.url()
        proxy = try await FaultProxy(to: server, seed: ChaosSettings.seed)
    }

    /// Runs to the end.
    /// - Returns: what the proxy did.
    func run() async throws -> FaultProxy.Counters {
        let released = Promise<Void>()
        try await connectAndDisturb(ReleaseMark(released))
        let counters = try await proxy.counters(open: 0)
        do {
            // Whoever was told last lets go last.
            let late = FeathersError(.timeout, "the transport is still there")
            try await RelativeClock(ContinuousClock()).run(atMost: .seconds(60), orThrow: late) {
                try await released.value()
            }
        } catch let error as FeathersError {
            journal.violated(error.message)
        }
        try await proxy.close()
        return counters
    }

    /// - Parameter mark: once this returns, only the transport's client holds it. The transport holds the client.
    private func connectAndDisturb(_ mark: ReleaseMark) async throws {
        let transport = line.transport(proxy.url, holding: mark)
        try await withFeathersApp(FeathersApp(transport: transport)) { app in
            try await disturb(app)
        }
        let left = (transport as? SocketIOTransport)?.pendingCallCount ?? 0
        if left != 0 { journal.violated("\(left) calls are left") }
        if transport.status != .offline { journal.violated("the connection is \(transport.status) at the end") }
    }

    private func disturb(_ app: FeathersApp) async throws {
        let end = ContinuousClock.now + ChaosSettings.duration
        let control = BackendControl(server)
        try await withThrowingTaskGroup(of: Void.self) { observers in
            observers.addTask { await countConnections(of: app) }
            observers.addTask { try await watch() }
            try await withThrowingTaskGroup(of: Void.self) { listeners in
                for index in 0..<ChaosSettings.subscribers {
                    let isSlow = index == 0
                    let deliveries = app.service("messages").eventDeliveries(
                        ["tick"], bufferingNewest: isSlow ? 4 : 4096)
                    let subscriber = ChaosSubscriber(
                        index: index, journal: journal, pause: isSlow ? .milliseconds(20) : nil)
                    listeners.addTask { try await subscriber.listen(to: deliveries, of: run) }
                }
                try await withThrowingTaskGroup(of: Void.self) { writing in
                    writing.addTask { try await write(over: control, until: end) }
                    try await act(app, control, until: end)
                    try await listeners.waitForAll()
                    writing.cancelAll()
                }
            }
            observers.cancelAll()
        }
    }

    /// Callers in bad weather, then in good.
    private func act(_ app: FeathersApp, _ control: BackendControl, until end: ContinuousClock.Instant) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 1...ChaosSettings.callers {
                group.addTask { [journal] in
                    var caller = ChaosCaller(index, app: app, journal: journal, seed: ChaosSettings.seed, end: end)
                    await caller.run()
                }
            }
            group.addTask { [line, proxy, journal] in
                var weather = ChaosWeather(
                    line: line, proxy: proxy, control: control, journal: journal, seed: ChaosSettings.seed)
                try await weather.run(until: end)
            }
            try await group.waitForAll()
        }
        let limit = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < limit {
            if (try? await app.service("echo").rawFind()) != nil { return }
        }
        journal.violated("no call is answered after the weather has cleared")
    }

    /// Makes the server send numbered events; once the time is over each may be the last, until all have heard one.
    private func write(over control: BackendControl, until end: ContinuousClock.Instant) async throws {
        var number: Int64 = 0
        while !Task.isCancelled {
            number += 1
            let isLast = ContinuousClock.now > end + .seconds(1)
            let data: JSONValue = ["run": .string(run), "n": .integer(number), "last": .bool(isLast)]
            do {
                try await control.emit("messages", "tick", data)
                try await Task.sleep(for: .milliseconds(isLast ? 100 : 5))
            } catch is CancellationError {
                return
            }
        }
    }

    private func countConnections(of app: FeathersApp) async {
        for await status in app.connectionStatusUpdates() {
            if case .connected = status { journal.note { $0.connections += 1 } }
        }
    }

    private func watch() async throws {
        while true {
            do {
                try await Task.sleep(for: ChaosSettings.watchInterval)
            } catch {
                return
            }
            journal.findOverdue()
            if let memory = ResidentMemory.current { journal.note { $0.memory.append(memory) } }
        }
    }

    /// Resolves a promise once everything that holds the mark is released.
    private final class ReleaseMark: Sendable {
        private let released: Promise<Void>

        init(_ released: Promise<Void>) { self.released = released }

        deinit { released.resolve(()) }
    }
}
