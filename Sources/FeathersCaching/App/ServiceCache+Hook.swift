import FeathersCore

extension ServiceCache {
    /// Runs around every call of the app.
    func surround(_ context: inout HookContext, _ next: NextHook) async throws {
        switch context.method {
        case .find, .get:
            try await read(&context, next)
        case .create, .update, .patch, .remove:
            try await change(&context, next)
        case .custom where options.changingMethods.contains(context.method):
            try await change(&context, next)
        case .custom:
            try await next(&context)
        }
    }

    private func change(_ context: inout HookContext, _ next: NextHook) async throws {
        try await next(&context)
        await invalidate(group: group(ofServiceAt: context.path))
    }

    private func read(_ context: inout HookContext, _ next: NextHook) async throws {
        guard let exchange = context.params[CachedExchange.self] else {
            guard let read = begin(context) else { return try await next(&context) }
            context.result = try await lastValue(of: read, &context, next)
            return
        }
        // Not for the calls that hooks make with these params.
        context.params[CachedExchange.self] = nil
        switch exchange.order {
        case .begin:
            guard let read = begin(context) else { return try await next(&context) }
            context.result = try await nextValue(of: read, exchange, &context, next)
        case .goOn(let read):
            context.result = try await nextValue(of: read, exchange, &context, next)
        case .refresh(let read):
            // What is refreshed for one user must not be asked for by the next one.
            guard holds(read.terms) else { throw CancellationError() }
            context.result = try await read.refresh(&context, next)
        }
    }

    /// A read on the terms of its call, its service and the cache; nil where it has no key.
    private func begin(_ context: HookContext) -> CachedRead? {
        let service = serviceOptions(at: context.path)
        let ownPartition = options.partition(context)
        let partition = context.app.cachePartition
        let key = CacheKey(
            of: context, group: service?.group ?? context.path, headers: keyHeaders,
            partitions: [options.namespace, partition.name, ownPartition])
        guard let key else { return nil }
        let terms = CachedRead.Terms(
            key: key, expiration: context.params.cacheExpiration ?? service?.expiration ?? expiration, partition: partition,
            ownPartition: ownPartition, start: context)
        return CachedRead(self, terms, context.params.cachePolicy ?? service?.policy ?? policy)
    }

    /// What a plain call gets: the last value.
    private func lastValue(of read: CachedRead, _ context: inout HookContext, _ next: NextHook) async throws -> JSONValue {
        var read = read
        var last = JSONValue.null
        while !read.isFinished {
            switch try await read.advance(&context, next) {
            case .result(let result): last = result.value
            case .refresh:
                if !background.refresh(read) { options.onFailure(Self.notRunning(context)) }
            case .finished: break
            }
        }
        return last
    }

    /// What a stream gets, one call for each value.
    private func nextValue(
        of read: CachedRead, _ exchange: CachedExchange, _ context: inout HookContext, _ next: NextHook
    ) async throws -> JSONValue {
        var read = read
        guard case .result(let result) = try await read.advance(&context, next) else { return .null }
        let following: CachedExchange.Order? =
            if read.isToRefresh { background.refresh(read) ? nil : .refresh(read) } else { read.isFinished ? nil : .goOn(read) }
        exchange.answer(result.source, following: following)
        return result.value
    }

    private static func notRunning(_ context: HookContext) -> FeathersError {
        FeathersError(
            .generalError, "A cached '\(context.method)' on service '\(context.path)' is not refreshed: its app does not run",
            execution: .neverSent)
    }
}
