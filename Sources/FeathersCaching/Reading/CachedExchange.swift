import FeathersCore
import FeathersSupport

/// What a stream of cached results tells the cache's hook with one call, and what the hook tells the stream.
final class CachedExchange: ParamsKey, Sendable {
    typealias Value = CachedExchange

    /// What the call is for.
    enum Order: Sendable {
        case begin
        /// The next value of a read that gave one.
        case goOn(CachedRead)
        /// A new value for the cache, of a read that has given its own.
        case refresh(CachedRead)
    }

    struct Answer: Sendable {
        let source: CacheSource
        /// What the stream does next; nil where it ends.
        let following: Order?
    }

    let order: Order
    private let given = Locked<Answer?>(nil)

    init(_ order: Order) {
        self.order = order
    }

    func answer(_ source: CacheSource, following: Order?) {
        given.withLock { $0 = Answer(source: source, following: following) }
    }

    /// What the hook said; nil where no cache took part.
    var answer: Answer? { given.withLock { $0 } }
}
