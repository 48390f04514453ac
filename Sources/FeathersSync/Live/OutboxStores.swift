// Locks: Part of `Outbox.State`, under the lock of the outbox, which is taken before those of the stores.

import FeathersCore
import Foundation

/// The stores that show the writes of an outbox, by the path of their service.
struct OutboxStores: Sendable {
    private struct Place: Sendable {
        weak var store: LiveStore?
    }

    private var places: [String: [Place]] = [:]
    /// The number of paths at which those without open stores are removed.
    private var sweepCount = 64
    /// The stores whose readers must still be woken.
    private var changed: [LiveStore] = []

    /// The open stores.
    var all: [LiveStore] { places.values.joined().compactMap(\.store) }

    mutating func add(_ store: LiveStore) {
        if places.count >= sweepCount {
            places = places.filter { $0.value.contains { $0.store != nil } }
            sweepCount = max(2 * places.count, 64)
        }
        places[store.key.path] = (places[store.key.path] ?? []).filter { $0.store != nil } + [Place(store: store)]
    }

    /// The stores of a service and route.
    private func stores(at path: String, _ route: [String: String]) -> [LiveStore] {
        (places[path] ?? []).compactMap(\.store).filter { $0.key.isOf(path, route) }
    }

    /// Shows writes as they are now, those of each store in one step.
    mutating func show(_ items: [OutboxQueue.Item]) {
        for path in Set(items.map(\.write.path)) {
            for store in (places[path] ?? []).compactMap(\.store) {
                let own = items.filter { store.shows($0.write) }
                guard !own.isEmpty else { continue }
                store.withState { state in for item in own { state.store.show(item) } }
                changed.append(store)
            }
        }
    }

    /// Changes the stores that show a write.
    mutating func forEach(showing write: OutboxWrite, _ body: (inout Store, RequestSender) -> Void) {
        for store in stores(at: write.path, write.route) where store.shows(write) {
            store.withState { body(&$0.store, store.key.sender) }
            changed.append(store)
        }
    }

    mutating func forEach(showing write: OutboxWrite, _ body: (inout Store) -> Void) {
        forEach(showing: write) { store, _ in body(&store) }
    }

    /// Shows the writes of the signed-in user.
    mutating func republish(_ queue: OutboxQueue) {
        for store in all where store.key.sender.identity == queue.identity {
            let items = queue.writes(for: store)
            store.withState { $0.store.replaceQueue(items) }
            changed.append(store)
        }
    }

    /// Gives records the ids that the server has assigned, in the queries and routes of all stores.
    mutating func named(_ names: Names) {
        for store in all {
            var missing: [Names.Missing] = []
            let isMoved = names.translated(store.key.route, &missing) != store.key.route
            let isNamed = store.withState { state in
                state.isRenamed = isMoved
                return state.store.named(names)
            }
            if isNamed || isMoved { changed.append(store) }
        }
    }

    /// Returns what the server last reported about a record, as far as a store knows it.
    func known(_ key: String, at path: String, _ route: [String: String]) -> JSONValue? {
        for store in stores(at: path, route) where store.key.sender.isCurrent {
            if let record = store.withState({ $0.store.known(key) }) { return record }
        }
        return nil
    }

    /// Returns a failure with the records that the write may have created.
    func offeringCandidates(_ failure: OutboxFailure) -> OutboxFailure {
        guard failure.reason == .unknown, failure.write.method == .create else { return failure }
        var failure = failure
        failure.candidates = stores(at: failure.write.path, failure.write.route)
            .filter { $0.key.sender.isCurrent }
            .flatMap { store in store.withState { $0.store.candidates(of: failure.write.id) } }
        return failure
    }

    /// Takes the stores whose readers must be woken, outside the lock.
    mutating func takeChanged() -> [LiveStore] {
        defer { changed = [] }
        return changed
    }
}

extension LiveStore {
    fileprivate func shows(_ write: OutboxWrite) -> Bool {
        key.isOf(write.path, write.route) && write.belongs(to: key.sender.identity)
    }
}

extension OutboxQueue {
    /// Returns the writes that a store shows.
    func writes(for store: LiveStore) -> [Item] {
        inOrder.filter { store.shows($0.write) }
    }
}
