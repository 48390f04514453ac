// Locks: `LiveControl.state` guards the open windows of a query and the growth that runs. It is not held while another
// lock is.

import FeathersCore
import FeathersSupport

/// An end of the list that a live query shows.
public enum LiveEnd: Sendable, Hashable {
    case start
    case end
}

/// The open windows of a live query, so that the query can make them grow, or fetch them again.
final class LiveControl: Sendable {
    private struct Place: Sendable {
        weak var window: LiveWindow?
        /// The end at which it grows; nil if it has the records of a relation.
        let end: LiveEnd?
        let refresh: @Sendable () async throws -> Void
    }

    private struct State: Sendable {
        var places: [Place] = []
        /// Fulfilled when the present growth ends.
        var growing: Promise<Void>?
    }

    private let state = Locked(State())
    /// The turns of the requests for related records.
    let turns: RequestTurns

    init(_ turns: RequestTurns = RequestTurns()) { self.turns = turns }

    func add(_ window: LiveWindow, growingAt end: LiveEnd?, refresh: @escaping @Sendable () async throws -> Void) {
        let place = Place(window: window, end: end, refresh: refresh)
        state.withLock { $0.places = $0.places.filter { $0.window != nil } + [place] }
    }

    /// The open places of the present sign-in. Fetches in flight hold windows of earlier ones.
    private func places() throws -> [Place] {
        let all = state.withLock { $0.places.filter { $0.window != nil } }
        let places = all.filter { $0.window?.sender.isCurrent ?? false }
        guard places.isEmpty else { return places }
        if !all.isEmpty { throw LiveControl.userChanged }
        throw FeathersError(
            .badRequest, "The live query is not being read: read its snapshots first", execution: .neverSent)
    }

    /// The open windows that grow at an end of the list.
    /// - Throws: ``FeathersError/Code/badRequest`` if the query is not being read.
    func windows(growingAt end: LiveEnd) throws -> [LiveWindow] {
        try places().filter { $0.end == end }.compactMap(\.window)
    }

    /// Fetches all windows again.
    func refresh() async throws {
        _ = try await places().concurrentMap(atMost: RequestedIDs.concurrency) { try await $0.refresh() }
    }

    static var userChanged: FeathersError {
        FeathersError(.notAuthenticated, "The signed-in user changed while the list was read", execution: .neverSent)
    }

    /// Runs a growth after the one that is running.
    func grow<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let ended = Promise<Void>()
        while true {
            let other = state.withLock { state -> Promise<Void>? in
                if let other = state.growing { return other }
                state.growing = ended
                return nil
            }
            guard let other else { break }
            try await other.value()
        }
        defer {
            state.withLock { $0.growing = nil }
            _ = ended.resolve(())
        }
        return try await body()
    }
}

extension LiveQuery {
    /// Shows more records at an end of the list. They join the rows of the next snapshot.
    ///
    /// ```swift
    /// let newest = messages.live(.sorted(by: .createdAt, .descending).limit(30))
    /// for try await snapshot in newest.snapshots { show(snapshot, hasMore: snapshot.hasMore) }
    /// // In another task, when the last row appears:
    /// try await newest.loadMore()
    /// ```
    ///
    /// The server is asked for the records after the last known one, by the first property of `$sort`. Each page begins
    /// with that record, so that records that are created or removed meanwhile cause neither gaps nor repetitions. If
    /// the page begins otherwise, because values have no order there, the records are requested by their number
    /// (`$skip`), and then the whole result. A list that has grown to its end has every record that one `find` would
    /// give, in its order.
    ///
    /// Call it while the query is being read. The growth ends with the sequence, and with the user's sign-in. In an app
    /// with a local store, the list opens with all of its rows the next time. While it is from disk, or the app cannot
    /// connect, this method returns at once: it shows more of what is stored, and the server's next page brings the rest.
    /// - Parameters:
    ///   - count: The number of records to add. By default, as many as the query showed at first.
    ///   - end: The end at which to add them. Only a list around a record grows at its start.
    /// - Returns: Whether there are more records beyond that end.
    /// - Throws: The errors of `find`, and ``FeathersError/Code/badRequest`` if the query is not being read, or if the
    ///   service sends its records in another order each time. The list then stays as it was.
    @discardableResult
    public func loadMore(_ count: Int? = nil, at end: LiveEnd = .end) async throws -> Bool {
        if let count, count < 1 {
            throw FeathersError(.badRequest, "The number of records to add must be at least 1", execution: .neverSent)
        }
        return try await source.control.grow {
            var hasMore = false
            for window in try source.control.windows(growingAt: end) {
                hasMore = try await source.grow(window, by: count) || hasMore
            }
            return hasMore
        }
    }

    /// Fetches the result and the related records again, for example when the user pulls to refresh.
    ///
    /// Call it while the query is being read. It returns once the server has responded; what has changed is in the next
    /// snapshot.
    /// - Throws: The errors of `find`, and ``FeathersError/Code/badRequest`` if the query is not being read. What is
    ///   shown stays.
    public func refresh() async throws {
        try await source.control.refresh()
    }
}

extension LiveSource {
    fileprivate func grow(_ window: LiveWindow, by count: Int?) async throws -> Bool {
        let cannotConnect = service.app.cannotConnect
        let isAway = window.withState { store, _ in
            store.windows[window.id].map { $0.isKnown && ($0.source != .server || cannotConnect) } ?? false
        }
        if isAway, replica(for: window) == nil { return growFromDisk(window, by: count) }
        let step = window.change { store, _ in store.change(window.id) { $0.grow(by: count) } ?? 0 }
        do { try await fill(window) } catch {
            window.change { store, _ in
                _ = store.change(window.id) {
                    $0.growth -= step
                    $0.endAddition()
                }
            }
            throw error
        }
        return window.withState { store, _ in
            _ = store.content(of: window.id)
            return store.windows[window.id]?.hasMore ?? false
        }
    }

    /// Shows more of what is known, without waiting for the server. Its next page brings the rest.
    /// - Returns: Whether there may be more.
    private func growFromDisk(_ window: LiveWindow, by count: Int?) -> Bool {
        window.change { store, _ in
            // What was asked for before has not come yet.
            _ = store.change(window.id) { if $0.isFilled { _ = $0.grow(by: count) } }
            _ = store.content(of: window.id)
            return store.windows[window.id]?.hasMore ?? false
        }
    }

    /// Fetches what is missing from a list that has grown, page by page.
    private func fill(_ window: LiveWindow) async throws {
        var hasFetchedAll = false
        while true {
            try checkUser(of: window)
            let begun: (fetch: Window.Fetch, request: Query<JSONValue>)?
            do {
                begun = try window.withState { store, _ in try store.beginAddition(window.id) }
            } catch {
                if hasFetchedAll { throw error }
                hasFetchedAll = try await fetchAll(window, asksServer: false)
                continue
            }
            guard let begun else { return }
            let fetched = try await service.app.asOwnWork { try await self.page(begun.request, begun.fetch, window) }
            _ = try window.change { store, _ in try store.fetched(window.id, begun.fetch.time, fetched) }
        }
    }

    /// Fetches the whole result, in place of a fetch in flight.
    /// - Parameters:
    ///   - read: Sends the request; nil for the one of the query.
    ///   - asksServer: Whether the server is asked although a replica has the records.
    /// - Returns: Whether the response was taken; false if another fetch has taken its place, as after a gap.
    @discardableResult
    func fetchAll(
        _ window: LiveWindow, by read: (() async throws -> FetchedPage)? = nil, asksServer: Bool = true
    ) async throws -> Bool {
        try checkUser(of: window)
        let begun = window.change { store, _ in
            store.confirm()
            _ = store.change(window.id) { $0.want(.now) }
            return store.beginFetch(window.id)
        }
        guard let begun else { return true }
        do {
            let fetched = try await service.app.asOwnWork {
                if let read { return try await read() }
                return try await self.page(begun.request, begun.fetch, window, asksServer: asksServer)
            }
            return try window.change { store, _ in
                let isCurrent = store.windows[window.id]?.fetch?.time == begun.fetch.time
                return try store.fetched(window.id, begun.fetch.time, fetched) && isCurrent
            }
        } catch {
            window.change { store, _ in
                _ = store.change(window.id) {
                    guard $0.fetch?.time == begun.fetch.time else { return }
                    $0.endFetch()
                    $0.want(.now)
                }
            }
            throw error
        }
    }

    private func checkUser(of window: LiveWindow) throws {
        if !window.sender.isCurrent { throw LiveControl.userChanged }
    }
}
