import FeathersCore
import FeathersSupport

extension ServiceCache {
    /// Asks the network, or waits for the identical read that does, and keeps the answer if `writes`.
    /// - Parameter found: what the cache has: where the server says that it still holds, it need not be sent again.
    func fetch(
        _ terms: CachedRead.Terms, holding found: CacheEntry?, writes: Bool, _ context: inout HookContext, _ next: NextHook
    ) async throws -> JSONValue {
        let stamp = invalidation.withLock { $0.stamp(of: terms.key.group) }
        let value: JSONValue
        if options.sharesRequests {
            let params = terms.start.params
            let key = InFlightRead(
                key: terms.key, stamp: stamp, partition: terms.partition, headers: params.headers, timeout: params.timeout, writes: writes,
                expiration: terms.expiration)
            value = try await inFlight.value(of: key) {
                try await request(terms, holding: found, writes: writes, stamp, &context, next)
            }
        } else {
            value = try await request(terms, holding: found, writes: writes, stamp, &context, next)
        }
        context.result = value
        return value
    }

    private func request(
        _ terms: CachedRead.Terms, holding found: CacheEntry?, writes: Bool, _ stamp: CacheInvalidation.Stamp,
        _ context: inout HookContext, _ next: NextHook
    ) async throws -> JSONValue {
        guard writes else {
            try await next(&context)
            return context.result ?? .null
        }
        let read = ConditionalRead(context.method, context.id, at: context.path, holding: held(found, context))
        context.params[ConditionalRead.self] = read
        try await next(&context)
        context.params[ConditionalRead.self] = nil
        let value = context.result ?? .null

        var entry = CacheEntry(value: value, expiration: terms.expiration.date(from: options.now()))
        switch read.outcome {
        case .notModified?:
            entry.entityTag = found?.entityTag
            entry.answer = found?.answer
        case .answered(let answer?)?:
            entry.entityTag = answer.entityTag
            if answer.value != value { entry.answer = answer.value }
        case .answered(nil)?, nil:
            break
        }
        await keep(entry, terms, stamp)
        return value
    }

    /// The answer the server need not send again; nil where the caller asks on conditions of its own.
    private func held(_ found: CacheEntry?, _ context: HookContext) -> ConditionalRead.Answer? {
        guard let found, let tag = found.entityTag,
            !context.params.headers.keys.contains(where: { $0.lowercased() == "if-none-match" })
        else { return nil }
        return ConditionalRead.Answer(entityTag: tag, value: found.answer ?? found.value)
    }
}
