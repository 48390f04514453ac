import FeathersCore

/// The values of one read, each with where it came from: one or two, as the policy has it.
///
/// ```swift
/// for try await result in messages.cached.find(.limit(20), policy: .cacheFirstNetworkAlways) {
///     show(result.value, isOld: result.source == .cache(isExpired: true))
/// }
/// ```
///
/// Nothing happens before the first value is asked for. Every value is a call of its own, with all hooks, so that a reader who stops early has
/// started nothing that goes on. Reading to the end refreshes where the policy says so, in the reader's own task if the app does not run.
/// It throws what the calls throw; the read that failed is over.
public struct CachedResults<Value: Sendable>: AsyncSequence, Sendable {
    let service: Service
    let request: ServiceRequest
    let transform: @Sendable (JSONValue) throws -> Value

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(results: self)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let results: CachedResults
        private var order: CachedExchange.Order? = .begin

        init(results: CachedResults) {
            self.results = results
        }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> CachedResult<Value>? {
            guard let order else { return nil }
            self.order = nil
            if case .refresh(let read) = order {
                await read.refreshSilently()
                return nil
            }
            let exchange = CachedExchange(order)
            var request = results.request
            request.params[CachedExchange.self] = exchange
            let value = try await results.service.respond(to: request)
            let answer = exchange.answer
            self.order = answer?.following
            return CachedResult(try results.transform(value), from: answer?.source ?? .network(updated: true))
        }
    }

    /// The first value; what would follow does not happen.
    public func first() async throws -> CachedResult<Value> {
        for try await result in self { return result }
        throw CancellationError()
    }

    /// The last value, as plain calls have it, with where it came from.
    public func last() async throws -> CachedResult<Value> {
        var last: CachedResult<Value>?
        for try await result in self { last = result }
        guard let last else { throw CancellationError() }
        return last
    }
}
