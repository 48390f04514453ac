// Locks: No state of its own: the progress of a fetch is in `LiveStore.State.readers`, under the lock of the store.

import FeathersCore
import FeathersSupport
import Foundation

/// A fetch of a live query's result, beside its reader, so that local changes are shown meanwhile.
enum LiveFetch {
    /// Schedules the fetch that a window wants, if any is wanted sooner than the one that is scheduled already.
    static func begin<Record: Sendable>(_ source: LiveSource<Record>, _ window: LiveWindow, in run: LiveRun) {
        let scheduled: (id: Int, delay: Duration?)? = window.store.withState { state in
            guard let reader = state.readers[window.id], let wanted = state.store.windows[window.id],
                !reader.isWaitingForUser, wanted.fetch == nil
            else { return nil }
            let urgency = wanted.wantedFetch
            guard urgency != nil || state.store.awaitsConfirmation(window.id) else { return nil }
            if let fetch = reader.fetch, (fetch.urgency?.rawValue ?? -1) >= (urgency?.rawValue ?? -1) { return nil }
            state.lastFetch += 1
            state.readers[window.id]?.fetch = (state.lastFetch, urgency)
            guard let urgency else { return (state.lastFetch, .seconds(1)) }
            return (state.lastFetch, urgency == .now || wanted.time == 0 ? nil : .milliseconds(250))
        }
        guard let (id, delay) = scheduled else { return }
        run.add { await source.service.app.asOwnWork { await Self.run(source, window, id, after: delay) } }
    }

    private static func run<Record: Sendable>(
        _ source: LiveSource<Record>, _ window: LiveWindow, _ id: Int, after delay: Duration?
    ) async {
        do {
            if let delay { try await source.clock.sleep(for: delay) }
            try await fetch(source, window, id)
        } catch {
            guard !Task.isCancelled else { return }
            window.change { _, reader in if reader.fetch?.id == id { reader.failure = error } }
        }
    }

    /// Fetches until the server has responded. While it cannot be reached, waits longer and longer.
    private static func fetch<Record: Sendable>(_ source: LiveSource<Record>, _ window: LiveWindow, _ id: Int)
        async throws
    {
        var pause = Duration.milliseconds(500)
        /// How often in succession the server has refused the token.
        var renewals = 0
        while true {
            do {
                return try await source.inTurn { try await fetchOnce(source, window, id) }
            } catch {
                let isShown = window.withState { store, reader in
                    reader.shownFor != nil || store.windows[window.id]?.isKnown == true
                }
                let mayRetry = isShown || source.service.app.showsLocalData
                switch FetchFailure(
                    error, window.sender, mayRenew: isShown && renewals < 3, mayRetry: mayRetry,
                    isRelated: source.relation != nil)
                {
                case .nothingToShow:
                    return window.change { store, reader in
                        guard reader.fetch?.id == id else { return }
                        (reader.fetch, reader.isWaitingForUser) = (nil, true)
                        store.clear()
                    }
                case .retry:
                    renewals = FeathersError.Code.notAuthenticated ~= error ? renewals + 1 : 0
                    window.change { store, reader in
                        guard reader.fetch?.id == id else { return }
                        reader.isUnreachable = true
                        if source.relation != nil { reader.relatedFailure = source.failure(error) }
                        _ = store.change(window.id) { window in
                            window.endFetch()
                            window.want(.now)
                        }
                    }
                    try await source.clock.sleep(for: pause * Double.random(in: 0.5...1))
                    pause = min(pause * 2, .seconds(30))
                case .end: throw error
                }
            }
        }
    }

    /// Sends the request of a fetch, unless it is no longer wanted, and takes the response.
    private static func fetchOnce<Record: Sendable>(_ source: LiveSource<Record>, _ window: LiveWindow, _ id: Int)
        async throws
    {
        var hasHolds = false
        let begun: (fetch: Window.Fetch, request: Query<JSONValue>)? = window.withState { store, reader in
            guard reader.fetch?.id == id else { return nil }
            hasHolds = !store.records.holds.isEmpty
            store.confirm()
            guard window.sender.isCurrent, store.windows[window.id]?.wantedFetch != nil else {
                reader.fetch = nil
                return nil
            }
            return store.beginFetch(window.id)
        }
        // Other windows may want a fetch now.
        if hasHolds { window.store.wake() }
        guard let begun else { return }
        let fetched = try await source.page(begun.request, begun.fetch, window)
        try window.change { store, reader in
            guard reader.fetch?.id == id else { return }
            try store.fetched(window.id, begun.fetch.time, fetched)
            (reader.fetch, reader.relatedFailure) = (nil, nil)
        }
    }
}

extension LiveSource {
    /// Runs the fetch of one of many lists in its turn. Those of an app's function make one request together.
    fileprivate func inTurn<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard let relation, relation.part != nil, relation.counted == nil else { return try await body() }
        return try await control.turns.run(body)
    }

    /// Sends a request.
    func page(_ query: Query<JSONValue>) async throws -> (Page<JSONValue>, HookEffects) {
        let found = try await found(query)
        return (found.page, found.effects)
    }

    /// A page, what hooks did to it, and whether the query was sent as text.
    typealias Found = (page: Page<JSONValue>, effects: HookEffects, isText: Bool)

    func found(_ query: Query<JSONValue>) async throws -> Found {
        let request = try service.makeRequest(.find, query: query, params: fetchParams)
        let response = try await service.respond(to: request)
        let page: Page<JSONValue>
        do { page = try read(response.result) } catch {
            // For example the sign-in page of a network: the server can't be reached.
            throw FeathersError(
                .unavailable,
                "The response to 'find' on service '\(service.path)' is neither a list nor a page",
                execution: .mayHaveExecuted, cause: error)
        }
        // A count has no records that hooks could change.
        let isEmpty = page.isEmpty && query.json["$limit"] != 0
        return (
            page, effects(of: response, to: request, isEmpty: isEmpty), response[SentQueryAsText.self] ?? false
        )
    }

    var fetchParams: Params {
        var params = params.withoutQuery
        // Events are applied to the result, so it must not come from a cache.
        (params.readsFromServer, params.isLive) = (true, true)
        return params
    }

    func effects(of response: ServiceResponse, to request: ServiceRequest, isEmpty: Bool) -> HookEffects {
        // With event hooks, events say what the other hooks do to them.
        if service.hasEventHooks { return HookEffects() }
        return HookEffects(of: response, to: request, isEmpty: isEmpty)
    }
}

extension HookEffects {
    /// - Parameters:
    ///   - response: The response to a request that reads from the server.
    ///   - request: The request as it was made.
    ///   - isEmpty: Whether the result has no records.
    init(of response: ServiceResponse, to request: ServiceRequest, isEmpty: Bool) {
        guard let method = response[AtMethod.self] else { return }
        changeQueries = method.query != request.params.query
        // An empty result does not tell what hooks do to records.
        changeResults = method.result != response.result || isEmpty
    }
}

/// The consequence of a failed fetch.
private enum FetchFailure {
    case retry
    /// There is nothing to show until the signed-in user changes.
    case nothingToShow
    case end

    /// - Parameters:
    ///   - mayRenew: Whether something is shown already, and the server has not refused the token several times.
    ///   - mayRetry: Whether something is shown already, or could be.
    ///   - isRelated: Whether related records are fetched, without which rows can be shown.
    init(_ error: any Error, _ sender: RequestSender, mayRenew: Bool, mayRetry: Bool, isRelated: Bool) {
        guard let error = error as? FeathersError else {
            self = isRelated && !(error is CancellationError) ? .retry : .end
            return
        }
        if !sender.isCurrent, error.code == .notAuthenticated {
            // Another user has signed in meanwhile. The gap that reports it has yet to arrive.
            self = .nothingToShow
        } else if error.isFromUntrustedServer {
            self = .end
        } else if mayRetry, sender.identity == nil, error.code == .notAuthenticated || error.code == .forbidden {
            // No one is signed in, so there is nothing to show until the next sign-in.
            self = .nothingToShow
        } else if mayRenew, error.code == .notAuthenticated {
            // The user is still signed in: the token could not be renewed yet, or the new token has expired too.
            self = .retry
        } else if mayRetry, error.saysUnreachable {
            self = .retry
        } else {
            self = isRelated && error.code != .forbidden ? .retry : .end
        }
    }
}

extension FeathersError {
    /// Whether the server cannot be reached at present, so that what this device has is shown.
    var saysUnreachable: Bool {
        !isFromUntrustedServer && [.unavailable, .timeout, .badGateway, .tooManyRequests].contains(code)
    }
}

extension FeathersApp {
    /// Whether the app keeps data on this device, so that a live query can begin without a server.
    var showsLocalData: Bool { storedLists != nil }

    /// Whether an app that keeps data on this device has already failed to connect.
    var cannotConnect: Bool {
        switch connectionStatus {
        case .waiting, .closed: showsLocalData
        case nil, .offline, .connecting, .connected: false
        }
    }
}
