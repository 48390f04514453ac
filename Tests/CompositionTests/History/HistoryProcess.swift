import Feathers
import FeathersCaching
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersTesting

/// What lasts from one process of a history to the next: the server, and what is on the disk.
struct HistoryWorld: Sendable {
    let server = ModelServer()
    let storage = InMemoryTokenStorage()
    let folder: TemporaryFolder
    let way: Way
    let parts: [Part]
    let coalesces: Bool
    let policy: CachePolicy
    let keepsOnDisk: Bool
    /// Whether a local store brings the outbox, and keeps results.
    let usesStore: Bool
    let traits: Set<HistoryTrait>
    /// The writes that were queued, by their ids, with their keys; and those that were given up when they failed.
    let queued = Locked<[UUID: String]>([:])
    let givenUp = Locked<Set<UUID>>([])
    let clock = ManualClock()
}

/// A process of a history: an app that runs, its live queries, its outbox.
final class HistoryProcess {
    let world: HistoryWorld
    let model: ModelApp
    let outbox: Outbox
    let identities: IdentityLog
    var probes: [LiveProbe] = []
    /// Calls that wait for a connection.
    var pending: [Task<Void, Never>] = []
    private let running: Task<Void, Never>

    var app: FeathersApp { model.app }
    var user: String { app.identity?.name ?? "nobody" }

    init(_ world: HistoryWorld, isOnline: Bool) async throws {
        self.world = world
        func configure(_ options: inout OutboxOptions) {
            options.isKeyed = true
            options.keyPlaces = [.query("key")]
            if world.traits.contains(.chosenIDs) { options.keyPlaces.append(.recordID()) }
            options.clock = world.clock
            options.decide = { [givenUp = world.givenUp] failure in
                givenUp.withLock { _ = $0.insert(failure.write.id) }
                return .discard
            }
        }
        let own =
            world.usesStore ? nil : try await Outbox(file: world.folder.url.appending(path: "writes.outbox"), configure)
        let storage: any CacheStorage =
            world.keepsOnDisk
            ? DiskCacheStorage(directory: world.folder.url.appending(path: "cache")) : MemoryCacheStorage()
        let cache = ServiceCache(storage, policy: world.policy) { $0.sharesRequests = world.coalesces }
        var traffic: [Hooks] = [.limiting(to: 16)]
        if world.coalesces { traffic.append(.coalescingReads()) }
        model = try world.server.app(
            over: world.way, world.parts, storage: world.storage, cache: cache, outbox: own, traffic: traffic,
            clock: world.clock)
        if world.usesStore {
            try await model.app.use(localStore: .directory(world.folder.url.appending(path: "store")), configure)
        }
        guard let installed = model.app.outbox else { throw FeathersError(.generalError, "no outbox") }
        outbox = installed
        identities = IdentityLog(model.app)
        world.server.setAway(!isOnline, model)
        running = Task { [app = model.app] in try? await app.run() }
        _ = await model.app.resolvedIdentity()
    }

    /// Ends the process.
    func end() async {
        for task in pending { task.cancel() }
        for task in pending { await task.value }
        for probe in probes { await probe.stop() }
        running.cancel()
        await running.value
        await outbox.close()
    }
}
