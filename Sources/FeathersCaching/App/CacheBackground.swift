import FeathersCore
import FeathersSupport

/// What a cache does beside a running app: refreshes, and the removal of what events invalidated.
final class CacheBackground: Sendable {
    private enum Order: Sendable {
        case refresh(CachedRead)
        case removeStale
    }

    private struct State: Sendable {
        var orders: AsyncStream<Order>.Continuation?
        /// The keys that wait for their refresh or have it right now: one at a time is enough.
        var refreshing: Set<CacheKey> = []
    }

    private static let refreshesAtOnce = 4
    private static let longestQueue = 256

    private let state = Locked(State())

    /// Has a cached value refreshed.
    /// - Returns: whether somebody sees to it: not where no app runs.
    func refresh(_ read: CachedRead) -> Bool {
        let key = read.terms.key
        let (orders, isNew) = state.withLock { ($0.orders, $0.orders != nil && $0.refreshing.insert(key).inserted) }
        guard let orders else { return false }
        if isNew, case .dropped = orders.yield(.refresh(read)) { done(key) }
        return true
    }

    /// Has removed what is stale.
    func removeStale() {
        _ = state.withLock { $0.orders }?.yield(.removeStale)
    }

    /// Does what is asked for until the task is cancelled.
    func run(for cache: ServiceCache) async {
        let (stream, continuation) = AsyncStream.makeStream(of: Order.self, bufferingPolicy: .bufferingOldest(Self.longestQueue))
        let isFirst = state.withLock { state in
            guard state.orders == nil else { return false }
            state.orders = continuation
            return true
        }
        guard isFirst else { return }
        defer { state.withLock { $0 = State() } }
        // What events made old before.
        continuation.yield(.removeStale)
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await order in stream {
                if running == Self.refreshesAtOnce {
                    await group.next()
                    running -= 1
                }
                running += 1
                group.addTask { await self.carryOut(order, for: cache) }
            }
            group.cancelAll()
        }
    }

    private func carryOut(_ order: Order, for cache: ServiceCache) async {
        switch order {
        case .removeStale:
            await cache.removeStale(cache.invalidation.withLock { $0.removals })
        case .refresh(let read):
            await read.refreshSilently()
            done(read.terms.key)
        }
    }

    private func done(_ key: CacheKey) {
        _ = state.withLock { $0.refreshing.remove(key) }
    }
}

extension CachedRead {
    /// Repeats the call through all hooks for the cache's sake; the options hear of a failure.
    func refreshSilently() async {
        let start = terms.start
        var params = start.params
        params[CachedExchange.self] = CachedExchange(.refresh(self))
        do {
            _ = try await start.service.respond(to: ServiceRequest(path: start.path, method: start.method, id: start.id, params: params))
        } catch is CancellationError {
            // The app ends, or the user has changed.
        } catch {
            cache.options.onFailure(error)
        }
    }
}
