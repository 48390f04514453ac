import FeathersCore
import FeathersSupport
import Foundation

/// A fetch of a live query's result, in a task of its own, so that local changes are shown meanwhile. Dropping it
/// cancels the task.
///
/// The task retains the service and its app, as the query does, but neither the query nor its iterator.
final class LiveFetch: Sendable {
    private let task: Task<Void, Never>

    private init(_ task: Task<Void, Never>) { self.task = task }

    /// Starts a fetch.
    /// - Parameters:
    ///   - source: The query.
    ///   - feed: Receives the result.
    ///   - delay: How long to wait first, so that several events cause one fetch.
    static func begin<Record: Sendable>(_ source: LiveSource<Record>, _ feed: LiveFeed, after delay: Duration?)
        -> LiveFetch
    {
        let id = UUID()
        let sender = source.service.app.currentSender
        feed.withState { state in
            state.fetch = id
            state.changeSender(to: sender)
        }
        return LiveFetch(
            Task { await source.service.app.withoutToken { await Self.run(source, feed, id, after: delay) } })
    }

    deinit { task.cancel() }

    private static func run<Record: Sendable>(
        _ source: LiveSource<Record>, _ feed: LiveFeed, _ id: UUID, after delay: Duration?
    ) async {
        var pause = Duration.milliseconds(500)
        /// How often in succession the server has refused the token.
        var renewals = 0
        var params = source.params.withoutQuery
        // Events are applied to the result, so it must not come from a cache.
        params.readsFromServer = true
        do {
            if let delay { try await source.clock.sleep(for: delay) }
            while true {
                let sender = source.service.app.currentSender
                let position = feed.reading.deliveredCount
                let began: (request: Query<JSONValue>, asked: Int, tick: Int)? = feed.withState { state in
                    guard state.fetch == id else { return nil }
                    state.changeSender(to: sender)
                    return state.view.fetchBegan(after: position)
                }
                guard let began else { return }
                do {
                    let request = try source.service.request(.find, query: began.request, params: params)
                    let page = try source.read(await source.service.respond(to: request).result)
                    feed.change { state in
                        guard state.fetch == id else { return }
                        state.fetch = nil
                        do { try state.view.fetched(page, asked: began.asked, at: began.tick) } catch {
                            state.failure = error
                        }
                    }
                    return
                } catch {
                    let hasContent = feed.withState { $0.hasShown || $0.view.hasContent }
                    let mayRetry = hasContent || source.service.app.showsLocalData
                    switch FetchFailure(error, sender, mayRenew: hasContent && renewals < 3, mayRetry: mayRetry) {
                    case .nothingToShow:
                        return feed.change { state in
                            guard state.fetch == id else { return }
                            state.hasNothingToShow()
                        }
                    case .retry:
                        renewals = FeathersError.Code.notAuthenticated ~= error ? renewals + 1 : 0
                        feed.change { state in
                            guard state.fetch == id else { return }
                            state.view.fetchEnded()
                            (state.isUnreachable, state.view.showsWithoutBase) = (true, true)
                        }
                        try await source.clock.sleep(for: pause * Double.random(in: 0.5...1))
                        pause = min(pause * 2, .seconds(30))
                    case .end: throw error
                    }
                }
            }
        } catch {
            guard !Task.isCancelled else { return }
            feed.change { if $0.fetch == id { $0.failure = error } }
        }
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
    init(_ error: any Error, _ sender: RequestSender, mayRenew: Bool, mayRetry: Bool) {
        guard let error = error as? FeathersError else {
            self = .end
            return
        }
        if !sender.isCurrent, error.code == .notAuthenticated {
            // Another user has signed in meanwhile. The gap that reports it has yet to arrive.
            self = .nothingToShow
        } else if mayRetry, sender.identity == nil, error.code == .notAuthenticated || error.code == .forbidden {
            // No one is signed in, so there is nothing to show until the next sign-in.
            self = .nothingToShow
        } else if mayRenew, error.code == .notAuthenticated {
            // The sign-in stands: its token could not be renewed yet, or the new one has ended too.
            self = .retry
        } else if mayRetry, [.unavailable, .timeout, .badGateway, .tooManyRequests].contains(error.code) {
            self = .retry
        } else {
            self = .end
        }
    }
}

extension FeathersApp {
    /// Whether the app keeps data on this device, so that a live query can begin without a server.
    var showsLocalData: Bool { localStore != nil }
}
