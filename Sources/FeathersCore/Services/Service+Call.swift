extension Service {
    /// Runs a request through the hooks and the service, then emits its event.
    ///
    /// The request's path is ignored in favour of the service's own.
    @concurrent
    public nonisolated func respond(to request: ServiceRequest) async throws -> JSONValue {
        var request = request
        request.path = path
        return try await perform(request).json
    }

    /// The same for a request that is this service's.
    ///
    /// Nothing but the generic executor is ever come back to, which costs less than to find out whose executor the caller's is.
    /// - Parameter acceptsText: whether the caller makes a model of the result, and takes a text for it.
    /// - Throws: ``FeathersError/Code/unavailable`` where the app is shutting down.
    @concurrent
    nonisolated func perform(_ request: consuming ServiceRequest, acceptsText: Bool = false) async throws -> CallResult {
        guard app.gate.enter() else { throw FeathersError.shuttingDown(request.method, path) }
        defer { app.gate.leave() }
        let plan = registration.plan(for: request.method, in: app)
        let textService = acceptsText ? plan.textService : nil
        let isInside = !plan.mayCallOthers || CallGate.entered === app.gate
        if let pipeline = plan.pipeline.first {
            var context = HookContext(service: self, request: request, event: plan.event, acceptsText: textService != nil)
            if isInside {
                try await pipeline.run(&context)
            } else {
                try await CallGate.$entered.withValue(app.gate) { try await pipeline.run(&context) }
            }
            let result = context.callResult ?? .value(.null)
            if let event = context.event { emit(event, of: context.dispatch.map(CallResult.value) ?? result) }
            return result
        }
        let made = request
        let result: CallResult =
            switch (textService, isInside) {
            case (let service?, true): try await service.result(of: made)
            case (let service?, false): try await CallGate.$entered.withValue(app.gate) { try await service.result(of: made) }
            case (nil, true): .value(try await plan.implementation.respond(to: made))
            case (nil, false):
                .value(try await CallGate.$entered.withValue(app.gate) { try await plan.implementation.respond(to: made) })
            }
        if let event = plan.event { emit(event, of: result) }
        return result
    }

    /// Makes a call whose result the caller makes a model of.
    nonisolated func answer(_ request: ServiceRequest) async throws -> CallResult {
        try await perform(request, acceptsText: true)
    }

    /// Emits an event to this process' subscribers, as a service does for its custom events.
    public nonisolated func emit(_ event: EventName, _ data: JSONValue) {
        let event = ServiceEvent(path: path, name: event, data: data)
        app.registry.observe { $0.receive(event) }
        registration.events.emit(event)
    }

    /// Emits one event per record: a multi operation's result is an array.
    private nonisolated func emit(_ event: EventName, of result: CallResult) {
        guard registration.events.hasSubscribers else { return }
        // Straight to the subscribers: an app's observers have hooks to hear of its own calls.
        let json = result.json
        let records = if case .array(let records) = json { records } else { [json] }
        for record in records { registration.events.emit(ServiceEvent(path: path, name: event, data: record)) }
    }
}
