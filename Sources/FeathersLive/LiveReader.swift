import FeathersCore

/// Reads a live query: fetches, listens, and fetches again where it must, one after the other in its reader's task.
struct LiveReader<Record: Sendable> {
    private let source: LiveSource<Record>
    private var deliveries: EventDeliveries<ServiceEvent>.AsyncIterator
    /// Nil where the query cannot be kept right on this side.
    private var window: LiveWindow?
    private var refusal: FeathersError?
    private var shown = LiveElements<Record>()
    private var isOver = false

    init(_ source: LiveSource<Record>) {
        self.source = source
        // Listening before the first fetch, so that nothing can happen between the two.
        deliveries = source.service.events().deliveries.makeAsyncIterator()
        do {
            window = LiveWindow(try LiveQueryPlan(source.query, id: source.id))
        } catch {
            refusal = error
        }
    }

    /// The next snapshot that differs from the one before; the first as soon as the result is fetched.
    /// - Throws: ``FeathersError`` where the result cannot be fetched or a record is no `Record`, `CancellationError`.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        guard !isOver else { return nil }
        do {
            guard let snapshot = try await change(isolation: actor) else {
                isOver = true
                try Task.checkCancellation()
                return nil
            }
            return snapshot
        } catch {
            isOver = true
            throw error
        }
    }

    private mutating func change(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        if let refusal { throw refusal }
        guard var window else { return nil }
        // Taken out, so that it is not shared while it changes.
        self.window = nil
        defer { self.window = window }
        while true {
            if window.needsFetch { try window.fetched(await fetch(window.plan, isolation: actor)) }
            if let snapshot = try snapshot(of: window) { return snapshot }
            // Only what changes something visible, or asks for a fetch, is worth looking at the result again.
            var isSettled = true
            while isSettled {
                guard let delivery = await deliveries.next(isolation: actor) else { return nil }
                switch delivery {
                case .event(let event): if window.received(event) { isSettled = false }
                case .gap: window.missedEvents()
                }
                if window.needsFetch { isSettled = false }
            }
        }
    }

    private mutating func snapshot(of window: LiveWindow) throws -> LiveSnapshot<Record>? {
        let (source, previous) = (source, shown.marks ?? [])
        guard try shown.show(window.visible, { try source.decode(window.plan.select($0)) }), let marks = shown.marks else { return nil }
        return LiveSnapshot(records: shown.elements, marks: marks, previous: previous)
    }

    /// Fetches the result, after the first time again and again while the server cannot be reached.
    private func fetch(_ plan: LiveQueryPlan, isolation actor: isolated (any Actor)?) async throws -> Paginated<JSONValue> {
        var pause = Duration.milliseconds(500)
        while true {
            do {
                return try source.read(await source.service.find(plan.request, params: source.params))
            } catch let error as FeathersError where shown.marks != nil && error.isPassing {
                try await source.clock.sleep(for: pause * Double.random(in: 0.5...1))
                pause = min(pause * 2, .seconds(30))
            }
        }
    }
}

extension FeathersError {
    /// Whether the same request may succeed later without anything else being done.
    fileprivate var isPassing: Bool {
        [.unavailable, .timeout, .badGateway, .tooManyRequests].contains(code)
    }
}
