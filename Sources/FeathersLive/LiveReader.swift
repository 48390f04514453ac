import FeathersCore

/// Reads a live query: fetches, listens, and fetches again where it must, one after the other in its reader's task.
struct LiveReader<Record: Sendable> {
    private let source: LiveSource<Record>
    private var deliveries: EventDeliveries<ServiceEvent>.AsyncIterator
    private var window: Result<LiveWindow, FeathersError>
    private var shown: [LiveMark]?
    private var elements: [LiveMark: Record] = [:]
    private var isOver = false

    init(_ source: LiveSource<Record>) {
        self.source = source
        // Listening before the first fetch, so that nothing can happen between the two.
        deliveries = source.service.events().deliveries.makeAsyncIterator()
        window = Result { () throws(FeathersError) in LiveWindow(try LiveQueryPlan(source.query, id: source.id)) }
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
        var window = try self.window.get()
        defer { self.window = .success(window) }
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
        let marks = window.visible.map { LiveMark(key: $0.key, version: $0.version) }
        guard marks != shown else { return nil }
        var kept: [LiveMark: Record] = [:]
        kept.reserveCapacity(marks.count)
        let records = try zip(marks, window.visible).map { mark, entry in
            let element = try elements[mark] ?? source.decode(window.plan.select(entry.record))
            kept[mark] = element
            return element
        }
        elements = kept
        defer { shown = marks }
        return LiveSnapshot(records: records, marks: marks, previous: shown ?? [])
    }

    /// Fetches the result, after the first time again and again while the server cannot be reached.
    private func fetch(_ plan: LiveQueryPlan, isolation actor: isolated (any Actor)?) async throws -> Paginated<JSONValue> {
        var pause = Duration.milliseconds(500)
        while true {
            do {
                return try source.read(await source.service.find(plan.request, params: source.params))
            } catch let error as FeathersError where shown != nil && error.isPassing {
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
