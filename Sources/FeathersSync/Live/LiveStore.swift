// Locks: `LiveStore.state` guards the records, windows and readers of a service, route and sign-in; `wakes` guards the
// streams that wake readers, and `LiveStores.places` the stores of an app. The lock of an outbox is taken before that
// of a store, never after it; `wakes` and `places` are taken last.

import FeathersCore
import FeathersJSON
import FeathersSupport

/// The store of a service, route and sign-in, shared by the live queries and the outbox of an app.
///
/// Events wait in the buffer of the subscription until something looks at the store, so that they are applied in their
/// order with responses and fetches.
final class LiveStore: Sendable {
    struct Key: Sendable, Hashable {
        let path: String
        let route: [String: String]
        /// The name of the records' id property.
        let id: String
        let sender: RequestSender

        /// Compares paths and values of placeholders as they were written.
        static func == (left: Key, right: Key) -> Bool {
            left.sender == right.sender && left.id.isExactly(right.id) && left.isOf(right.path, right.route)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(path) }

        /// Whether the store is the one of a service and values for the placeholders of its path.
        func isOf(_ path: String, _ route: [String: String]) -> Bool {
            self.path.isExactly(path) && self.route.count == route.count
                && self.route.allSatisfy { name, value in route[name]?.isExactly(value) == true }
        }
    }

    /// The progress of a window's reader.
    struct Reader: Sendable {
        /// The sign-in to which something was shown last. An empty list is shown to it, to another one after an answer or
        /// after silence. Once anything was shown, fetches are retried.
        var shownFor: RequestSender?
        /// Why the query ends.
        var failure: (any Error)?
        /// The fetch that waits for its time, is in flight, or waits for its next attempt.
        var fetch: (id: Int, urgency: Window.Urgency?)?
        /// Why the records of a relation cannot be fetched at present.
        var relatedFailure: FeathersError?
        /// Whether the server has nothing to show to the present user, so that there is nothing to fetch until another
        /// one signs in.
        var isWaitingForUser = false
        /// Whether what is known is shown now, even if that is nothing, because the server does not respond.
        var isUnreachable = false
        /// Whether a task waits to show the records that look like those of creations in flight.
        var awaitsLookAlikes = false
    }

    struct State: Sendable {
        var store: Store
        var readers: [Window.ID: Reader] = [:]
        var lastFetch = 0
        var lastWatch = 0
        /// The sign-in that replaced this one; nil while this store is in use.
        var next: RequestSender?
        /// Whether a record in the route has got an id, under which another store has its records.
        var isRenamed = false
    }

    let key: Key
    private let reading: EventReading<ServiceEvent>
    private let state: Locked<State>
    /// Not in the state, so that an event can wake readers while one of them computes a snapshot.
    private let wakes = Locked<[Window.ID: AsyncStream<Void>.Continuation]>([:])

    /// - Parameters:
    ///   - version: The name of a property of the records that only grows.
    ///   - isStored: Whether records are stored on this device.
    init(_ key: Key, _ reading: EventReading<ServiceEvent>, version: String?, isStored: Bool) {
        (self.key, self.reading) = (key, reading)
        state = Locked(State(store: Store(id: key.id, version: version, isStored: isStored)))
        reading.onDelivery { [weak self] in self?.wake() }
    }

    /// Opens a window.
    /// - Parameters:
    ///   - shownFor: The sign-in to which its reader has shown something last.
    ///   - wake: Receives an element for each change.
    func open(_ window: Window, shownFor: RequestSender? = nil, _ wake: AsyncStream<Void>.Continuation) -> LiveWindow {
        let id = withState { state in
            let id = state.store.open(window)
            state.readers[id] = Reader(shownFor: shownFor)
            return id
        }
        wakes.withLock { $0[id] = wake }
        return LiveWindow(self, id)
    }

    /// Begins to keep what belongs to a replica.
    /// - Parameter wake: Receives an element for each change.
    func watch(_ replica: ReplicaWatch, _ wake: AsyncStream<Void>.Continuation) -> LiveWatch {
        let id = withState { state in
            state.lastWatch += 1
            state.store.watches[state.lastWatch] = replica
            return state.lastWatch
        }
        // Windows have other numbers.
        wakes.withLock { $0[-id] = wake }
        return LiveWatch(self, id)
    }

    fileprivate func unwatch(_ id: ReplicaWatch.ID) {
        wakes.withLock { $0[-id] = nil }
        withState { $0.store.watches[id] = nil }
    }

    fileprivate func close(_ id: Window.ID) {
        wakes.withLock { $0[id] = nil }
        withState { state in
            state.store.close(id)
            state.readers[id] = nil
        }
    }

    /// Changes the state without waking the readers. Events that have arrived are applied first, but not those that
    /// arrive meanwhile: a flood of them would have no end, and each wakes the readers again.
    func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock { state in
            for _ in 0..<reading.waitingCount {
                guard let item = reading.nextWaiting() else { break }
                apply(item, &state)
            }
            return try body(&state)
        }
    }

    /// Changes the state, then wakes the readers, outside the lock.
    func change(_ body: (inout State) -> Void) {
        withState(body)
        wake()
    }

    func wake() { for wake in wakes.withLock({ $0 }).values { wake.yield() } }

    private func apply(_ item: EventDelivery<ServiceEvent>, _ state: inout State) {
        switch item {
        case .event(let event):
            // Events after the end of the sign-in may be meant for the next user.
            guard state.next == nil, key.sender.isCurrent else { return }
            // An event of a path with placeholders does not contain their values.
            if event.path == key.path { state.store.event(event) } else { state.store.askAll(.soon) }
        case .gap(let gap):
            // An event hook failed. It may fail for many events, so the fetches are combined.
            if case .undecodable = gap.reason { return state.store.askAll(.soon) }
            if case .identityChanged = gap.reason {
                guard gap.sender == key.sender else {
                    state.next = gap.sender
                    return
                }
                // Events before the gap were meant for the previous user.
                state.store.clear()
            }
            // In a flood of events, gaps may be closer together than a fetch takes.
            if case .overflow = gap.reason { return state.store.gap(endsFetches: false) }
            state.store.gap()
            // What waits for its next attempt need not wait any longer.
            for id in state.readers.keys {
                state.readers[id]?.fetch = nil
                state.readers[id]?.isWaitingForUser = false
            }
        }
    }
}

/// A replica in the store of its records. It is closed with the last reference.
final class LiveWatch: Sendable {
    let store: LiveStore
    let id: ReplicaWatch.ID

    fileprivate init(_ store: LiveStore, _ id: ReplicaWatch.ID) { (self.store, self.id) = (store, id) }

    deinit { store.unwatch(id) }
}

/// A window of a live query in its store. It is closed with the last reference.
final class LiveWindow: Sendable {
    let store: LiveStore
    let id: Window.ID

    fileprivate init(_ store: LiveStore, _ id: Window.ID) { (self.store, self.id) = (store, id) }

    deinit { store.close(id) }

    var sender: RequestSender { store.key.sender }

    /// Changes the window and its reader without waking anyone.
    func withState<Result: Sendable>(_ body: (inout Store, inout LiveStore.Reader) throws -> Result) rethrows -> Result
    {
        try store.withState { state in
            var reader = state.readers[id] ?? LiveStore.Reader()
            defer { state.readers[id] = reader }
            return try body(&state.store, &reader)
        }
    }

    /// Changes the window and its reader, then wakes the readers of the store.
    func change<Result: Sendable>(_ body: (inout Store, inout LiveStore.Reader) throws -> Result) rethrows -> Result {
        let result = try withState { store, reader in
            defer { _ = store.change(id) { _ in } }
            return try body(&store, &reader)
        }
        store.wake()
        return result
    }
}

/// The open stores of an app. Live queries own them.
final class LiveStores: Sendable {
    private struct Place: Sendable {
        weak var store: LiveStore?
    }

    private let places = Locked<[LiveStore.Key: Place]>([:])

    /// Returns the store of a service, route and sign-in.
    func store(of service: Service<JSONValue>, _ route: [String: String], id: String, _ sender: RequestSender)
        -> LiveStore
    {
        let key = LiveStore.Key(path: service.path, route: route, id: id, sender: sender)
        if let store = places.withLock({ $0[key]?.store }) { return store }
        // Outside the lock, because it may report to the app's diagnostics.
        let reading = service.reading()
        return places.withLock { places in
            if let store = places[key]?.store { return store }
            places = places.filter { $0.value.store != nil }
            // Events do not say for which placeholders they are, so two records may have the same id.
            let version = route.isEmpty ? service.app.versionProperty(of: service.path) : nil
            let isStored = service.app.storedLists.map { !$0.store.isReadOnly } ?? false
            let store = LiveStore(key, reading, version: version, isStored: isStored)
            places[key] = Place(store: store)
            service.app.outbox?.attach(store)
            return store
        }
    }
}

extension FeathersApp {
    var liveStores: LiveStores {
        if let stores = self[InstalledStores.self] { return stores }
        return LiveStores.making.withLock { _ in
            if let stores = self[InstalledStores.self] { return stores }
            let stores = LiveStores()
            self[InstalledStores.self] = stores
            return stores
        }
    }

    private enum InstalledStores: AppSetting { typealias Value = LiveStores }
}

extension LiveStores {
    /// Held while the stores of an app are made, so that all queries find the same.
    fileprivate static let making = Locked(LockTurn())
}
