extension Service {
    /// Runs a request through the hooks and the service, then emits its event.
    ///
    /// The request's path is ignored in favour of the service's own.
    @concurrent
    public nonisolated func respond(to request: ServiceRequest) async throws -> JSONValue {
        var request = request
        request.path = path
        return try await perform(request)
    }

    /// The same without leaving the caller's executor: the public methods have left it already.
    /// - Throws: ``FeathersError/Code/unavailable`` where the app is shutting down.
    nonisolated func perform(_ request: consuming ServiceRequest) async throws -> JSONValue {
        guard app.gate.enter() else { throw FeathersError.shuttingDown(request.method, path) }
        defer { app.gate.leave() }
        let plan = registration.plan(for: request.method, in: app)
        let isInside = !plan.mayCallOthers || CallGate.entered === app.gate
        let made = copy request
        if let pipeline = plan.pipeline.first {
            if isInside { return try await run(pipeline, made, event: plan.event) }
            return try await CallGate.$entered.withValue(app.gate) { try await run(pipeline, made, event: plan.event) }
        }
        let result =
            if isInside {
                try await plan.implementation.respond(to: made)
            } else {
                try await CallGate.$entered.withValue(app.gate) { try await plan.implementation.respond(to: made) }
            }
        if let event = plan.event { emit(event, of: result) }
        return result
    }

    private nonisolated func run(
        _ pipeline: HookStep, _ request: consuming ServiceRequest, event: EventName?
    ) async throws -> JSONValue {
        var context = HookContext(service: self, request: request, event: event)
        try await pipeline.run(&context)
        let result = context.result ?? .null
        if let event = context.event { emit(event, of: context.dispatch ?? result) }
        return result
    }

    /// Emits an event to this process' subscribers, as a service does for its custom events.
    public nonisolated func emit(_ event: EventName, _ data: JSONValue) {
        let event = ServiceEvent(path: path, name: event, data: data)
        app.registry.observe { $0.receive(event) }
        registration.events.emit(event)
    }

    /// Emits one event per record: a multi operation's result is an array.
    private nonisolated func emit(_ event: EventName, of result: JSONValue) {
        guard registration.events.hasSubscribers else { return }
        // Straight to the subscribers: an app's observers have hooks to hear of its own calls.
        let records = if case .array(let records) = result { records } else { [result] }
        for record in records { registration.events.emit(ServiceEvent(path: path, name: event, data: record)) }
    }
}
