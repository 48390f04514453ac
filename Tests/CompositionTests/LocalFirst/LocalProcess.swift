import Feathers
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync
@testable import FeathersTesting

/// Reads the snapshots of a live query.
final class SnapshotReader: Sendable {
    struct State: Sendable {
        /// The snapshots since the last look.
        var new: [LiveSnapshot<JSONValue>] = []
        var failure: (any Error)?
    }

    private let state = Locked(State())
    private let task: Task<Void, Never>

    init(_ query: LiveQuery<JSONValue>) {
        let state = state
        task = Task {
            do {
                for try await snapshot in query.snapshots { state.withLock { $0.new.append(snapshot) } }
            } catch {
                state.withLock { $0.failure = error }
            }
        }
    }

    func takeNew() -> State {
        state.withLock { state in
            defer { state.new = [] }
            return state
        }
    }

    func stop() async {
        task.cancel()
        await task.value
    }
}

/// A process of a local-first history: an app with a local store, and its live queries.
final class LocalProcess {
    let app: FeathersApp
    let outbox: Outbox
    let held: HeldTransport
    /// Nil over REST.
    let connection: HeldConnection?
    /// Nil for a screen that is closed.
    private(set) var readers: [SnapshotReader?] = []
    private var queries: [LiveQuery<JSONValue>?] = []
    private var growths: [Task<Void, Never>] = []
    private let lists: [LocalList]
    let warnings = Locked<[String]>([])
    /// The clock of the delays between attempts to fetch.
    private let clock = HeldClock()
    private let run: Task<Void, Never>
    private let folder: URL

    init(
        in folder: URL, _ lists: [LocalList], as user: String?, hasConnection: Bool, isOnline: Bool,
        _ traits: Set<LocalTrait>
    ) async throws {
        (self.folder, self.lists) = (folder, lists)
        held = HeldTransport(isReachable: isOnline)
        held.state.update { $0.user = user ?? "nobody" }
        connection = hasConnection ? HeldConnection(held) : nil
        app = FeathersApp(transport: connection ?? held)
        app.use(
            diagnostics: .closure { [warnings] event in
                if event.domain == .localStore { warnings.withLock { $0.append(event.message) } }
            }, levels: DiagnosticLevels(.warning))
        if traits.contains(.otherResponses) { app.servicesWithOtherResponses = Set(lists.map(\.place.path)) }
        if let user { app.setIdentity(Identity(user)) }
        var store = LocalStore.directory(folder)
        // Written when the history says so.
        store.clock = ManualClock()
        try await app.use(localStore: store) { options in
            options.isKeyed = !traits.contains(.unkeyed)
            if hasConnection { options.keyPlaces = [.query("key")] }
            if traits.contains(.chosenIDs) { options.keyPlaces.append(.recordID()) }
            options.clock = ManualClock()
            // A log that is emptied at some time would make a history unrepeatable.
            options.logClock = ManualClock()
            options.attemptTimeout = nil
            options.retry = OutboxRetry(initialDelay: .seconds(1), maximumDelay: .seconds(1), jitter: 0)
        }
        guard let outbox = app.outbox else { throw FeathersError(.generalError, "no outbox") }
        self.outbox = outbox
        run = Task { [app] in try? await app.run() }
        (readers, queries) = (lists.map { _ in nil }, lists.map { _ in nil })
        for index in lists.indices { open(index) }
    }

    /// Opens the screen that shows a list.
    func open(_ index: Int) {
        let list = lists[index]
        let live = app.service(list.place.path).live(list.query, params: Params(route: list.place.route))
            .measured(by: clock)
        (readers[index], queries[index]) = (SnapshotReader(live), live)
    }

    func grow(_ index: Int, by count: Int) {
        guard let query = queries[index] else { return }
        growths.append(Task { _ = try? await query.loadMore(count) })
    }

    func close(_ index: Int) async {
        await readers[index]?.stop()
        (readers[index], queries[index]) = (nil, nil)
    }

    /// All writes in the outbox, also those of others.
    var writes: [OutboxWrite] { outbox.withState { $0.queue }.inOrder.map(\.write) }

    func write(_ id: UUID) -> OutboxWrite? { writes.first { $0.id == id } }

    /// The write that a call sends; nil for a read.
    func write(of call: HeldTransport.Call) -> OutboxWrite? { writes.first { $0.key.text == call.key } }

    /// The calls that wait for an answer, in an order that does not depend on time.
    var calls: [HeldTransport.Call] {
        let order = Dictionary(outbox.state.entries.enumerated().map { ($1.write.key.text, $0) }) { first, _ in first }
        return held.state.current.calls.sorted {
            let (left, right) = (
                $0.key.map { order[$0] ?? .max - 1 } ?? .max, $1.key.map { order[$0] ?? .max - 1 } ?? .max
            )
            return left == right ? $0.description < $1.description : left < right
        }
    }

    /// The keys of the records of writes that are executed, or creations that may be, but not known from a page.
    func doubtfulKeys(at place: LocalPlace) -> Set<String> {
        let stores = outbox.withState { $0.stores }.all.filter { $0.key.isOf(place.path, place.route) }
        return Set(
            stores.flatMap { store in
                store.withState { state in
                    let creations = state.store.queue.filter { $0.write.method == .create }
                    return (state.store.answered + creations.filter { $0.isInFlight || $0.isDoubtful }).map(\.key)
                }
            })
    }

    /// Whether the app is fetching the result of a live query, or waits to do so.
    func isFetching() -> Bool { windows.contains { $0.isFetching } }

    /// What a live query does about its result.
    private struct WindowState {
        let isFetching: Bool
        let isIdle: Bool
    }

    private var windows: [WindowState] {
        // Those of earlier users are closed once what they retain has ended.
        outbox.withState { $0.stores }.all.filter(\.key.sender.isCurrent).flatMap { store in
            store.withState { state in
                state.readers.map { id, reader in
                    let isWanted = state.store.windows[id]?.wantedFetch != nil || state.store.awaitsConfirmation(id)
                    return WindowState(
                        isFetching: reader.fetch != nil,
                        isIdle: reader.isWaitingForUser || !isWanted || reader.failure != nil)
                }
            }
        }
    }

    /// Waits until nothing moves any more without the history: calls wait for answers, readers for events.
    /// - Returns: What should not have stopped; nil if there is nothing.
    func settle() async -> String? {
        await Simulation.rest()
        let calls = calls
        // Read at once, for the comparison of a conflict.
        if calls.contains(where: { $0.request.method == .get }) { return nil }
        let queue = outbox.withState { $0.queue }
        guard queue.gate.isStarted, queue.gate.isConnected == (connection?.status.isConnected ?? true) else {
            return "\(queue.gate)"
        }
        var rest = queue
        for item in queue.inOrder {
            switch item.stage {
            case .sending: guard calls.contains(where: { $0.key == item.write.key.text }) else { return "\(item)" }
            case .deciding: return "\(item)"
            case .waiting, .retrying, .failed: break
            }
            if item.failure == nil { rest.remove(item.write.id) }
        }
        // Every failure has been compared and told of.
        guard rest.isAtRest else { return "\(rest.inOrder)" }
        var next = queue
        let sendable = next.takeSendable(at: outbox.timebase.now)
        guard sendable.isEmpty else { return "\(sendable)" }
        let windows = windows
        let fetching = windows.count { $0.isFetching }
        let waiting = calls.count { $0.request.method == .find } + clock.sleepers
        // The window of a screen that was closed stays until its list is stored, and nobody fetches for it.
        let closed = windows.count - readers.count { $0 != nil }
        guard closed >= 0, windows.count(where: { !$0.isFetching && !$0.isIdle }) <= closed else { return "\(windows)" }
        // Each reader may also wait for the moments at which it shows what is known and records like those in the making.
        // A list that grows fetches beside that.
        return (fetching - closed)...(fetching + 3 * readers.count) ~= waiting
            ? nil : "\(fetching) fetches, of which \(waiting) wait for an answer or a delay"
    }

    func changeUser(to user: Identity?) { app.setIdentity(user) }

    /// Ends all delays.
    func wakeAll() {
        wakeFetches()
        outbox.retryNow()
    }

    /// Ends the delays of live queries.
    func wakeFetches() { clock.wakeAll() }

    /// Writes the lists that have changed.
    func keep() async { await app.storedLists?.write(app.diagnostics) }

    /// Kills the process: what it does from now on reaches neither the server nor the disk.
    /// - Returns: The disk as it was.
    func kill() async throws -> URL {
        let disk = folder.deletingLastPathComponent().appending(path: UUID.new.uuidString, directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: folder, to: disk)
        held.cut(isDead: true)
        for index in lists.indices { await close(index) }
        for growth in growths {
            growth.cancel()
            await growth.value
        }
        run.cancel()
        await run.value
        await outbox.close()
        try FileManager.default.removeItem(at: folder)
        return disk
    }
}
