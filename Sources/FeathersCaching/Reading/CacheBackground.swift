import FeathersCore
import FeathersSupport

/// The background work of a cache while its app is running: refreshing entries, and removing those that events
/// invalidated.
final class CacheBackground: Sendable {
    private enum Order: Sendable {
        case refresh(CachedRead)
        case removeStale
    }

    private struct State: Sendable {
        var orders: AsyncStream<Order>.Continuation?
        /// The keys whose refresh is queued or in flight. Each key is refreshed only once at a time.
        var refreshing: Set<CacheKey> = []
    }

    private static let refreshesAtOnce = 4
    private static let longestQueue = 256

    private let state = Locked(State())

    /// Queues the refresh of a cached value.
    /// - Returns: Whether the refresh will happen; `false` if the app is not running.
    func refresh(_ read: CachedRead) -> Bool {
        let key = read.terms.key
        let (orders, isNew) = state.withLock { ($0.orders, $0.orders != nil && $0.refreshing.insert(key).inserted) }
        guard let orders else { return false }
        if isNew, case .dropped = orders.yield(.refresh(read)) { done(key) }
        return true
    }

    /// Queues the removal of stale entries.
    func removeStale() { _ = state.withLock { $0.orders }?.yield(.removeStale) }

    /// Carries out the queued work until the task is cancelled.
    func run(for cache: ServiceCache) async {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Order.self, bufferingPolicy: .bufferingOldest(Self.longestQueue))
        let isFirst = state.withLock { state in
            guard state.orders == nil else { return false }
            state.orders = continuation
            return true
        }
        guard isFirst else { return }
        defer { state.withLock { $0 = State() } }
        // Events may have arrived before the app was running.
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
        case .removeStale: await cache.removeStale(cache.invalidation.withLock { $0.removals })
        case .refresh(let read):
            await read.refresh()
            done(read.terms.key)
        }
    }

    private func done(_ key: CacheKey) { _ = state.withLock { $0.refreshing.remove(key) } }
}
