import FeathersCore

/// Reads a live query: fetches, listens, and fetches again if necessary, one step at a time in its reader's task.
struct LiveReader<Record: Sendable>: AsyncIteratorProtocol {
    private let source: LiveSource<Record>
    private var deliveries: AsyncStream<EventDelivery<ServiceEvent>>.AsyncIterator
    /// Nil if the query cannot be evaluated locally.
    private var window: LiveWindow?
    private var refusal: (any Error)?
    private var shown = LiveElements<Record>()
    /// Whether each visible record version can be decoded. Empty unless the params say to skip records that cannot be decoded.
    private var decodable: [Int: Bool] = [:]
    /// The user and sign-in for which the result was fetched.
    private var sender: RequestSender?
    /// The sender whose events are being read. A result may be fetched for the next user while the previous user's events are still buffered.
    private var told: RequestSender?
    private var isOver = false

    init(_ source: LiveSource<Record>) {
        self.source = source
        // Listens before the first fetch, so that no event is missed between the two.
        deliveries = source.service.deliveries().makeAsyncIterator()
        do {
            if let failure = source.refusal { throw failure }
            window = LiveWindow(try LiveQueryPlan(source.params.query.joined(with: source.query), id: source.id))
        } catch {
            refusal = error
        }
    }

    /// Returns the next snapshot that differs from the previous one.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        guard !isOver else { return nil }
        isOver = true
        guard let snapshot = try await change(isolation: actor) else {
            try Task.checkCancellation()
            return nil
        }
        isOver = false
        return snapshot
    }

    private mutating func change(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        if let refusal { throw refusal }
        guard var window else { return nil }
        // Moved out, so that mutating it does not copy it.
        self.window = nil
        defer { self.window = window }
        while true {
            if window.needsFetch, let page = try await fetch(window.plan, isolation: actor) { try window.fetched(page) }
            if isCurrent, let snapshot = try snapshot(of: window) { return snapshot }
            // Builds a new snapshot only after a visible change, or when a fetch is needed.
            var isSettled = true
            while isSettled {
                guard let delivery = await deliveries.next(isolation: actor) else { return nil }
                switch delivery {
                case .event(let event):
                    // This event was meant for the previous user. The gap that reports the change of user has yet to arrive.
                    guard isCurrent, told == sender else { continue }
                    isSettled = !window.received(event) && !window.needsFetch
                case .gap(let gap):
                    window.missedEvents()
                    isSettled = false
                    // The next user must not see the previous user's records, not even until their own are fetched.
                    if case .identityChanged = gap.reason {
                        (sender, told) = (nil, gap.sender)
                    } else if isCurrent {
                        continue
                    }
                    window.clear()
                    if shown.marks != nil, let snapshot = try snapshot(of: window) { return snapshot }
                }
            }
        }
    }

    /// Whether the user for whom the result was fetched is still signed in.
    private var isCurrent: Bool { sender?.isCurrent ?? true }

    private mutating func snapshot(of window: LiveWindow) throws -> LiveSnapshot<Record>? {
        let (source, previous) = (source, shown.marks ?? [])
        let entries = try entries(of: window)
        let isChanged = try shown.show(entries) { record in
            guard let element = try source.decode(window.plan.select(record)) else {
                throw FeathersError(.generalError, "A record of service '\(source.service.path)' cannot be decoded")
            }
            return element
        }
        guard isChanged, let marks = shown.marks else { return nil }
        return LiveSnapshot(records: shown.elements, marks: marks, previous: previous)
    }

    /// Returns the entries to show. Leaves out those that cannot be decoded, if the params say so.
    private mutating func entries(of window: LiveWindow) throws -> ArraySlice<LiveWindow.Entry> {
        guard source.params.skipsUndecodableRecords else { return window.visible }
        var known: [Int: Bool] = [:]
        for entry in window.visible {
            // Decodes each version only once, so that no failure is reported twice.
            known[entry.version] = try decodable[entry.version] ?? (source.decode(window.plan.select(entry.record)) != nil)
        }
        decodable = known
        return window.visible.filter { known[$0.version] == true }[...]
    }

    /// Fetches the result. Once a result has been shown, retries while the server cannot be reached.
    /// - Returns: The result; nil if there is nothing to show until the signed-in user changes again.
    private mutating func fetch(_ plan: LiveQueryPlan, isolation actor: isolated (any Actor)?) async throws -> Paginated<JSONValue>? {
        var pause = Duration.milliseconds(500)
        var params = source.params.withoutQuery
        // Events are applied to the result, so it must not come from a cache.
        params.readsFromServer = true
        _ = await source.service.app.resolvedIdentity()
        while true {
            let sender = source.service.app.currentSender
            told = told ?? sender
            self.sender = sender
            do {
                return try source.read(await source.service.find(plan.request, params: params))
            } catch let error as FeathersError where !sender.isCurrent && error.code == .notAuthenticated {
                // Another user has signed in meanwhile. The gap that reports it has yet to arrive.
                return nil
            } catch let error as FeathersError where shown.marks != nil {
                // No one is signed in, so there is nothing to show until the next sign-in.
                if sender.identity == nil, error.code == .notAuthenticated || error.code == .forbidden { return nil }
                guard [.unavailable, .timeout, .badGateway, .tooManyRequests].contains(error.code) else { throw error }
                try await source.clock.sleep(for: pause * Double.random(in: 0.5...1))
                pause = min(pause * 2, .seconds(30))
            }
        }
    }
}
