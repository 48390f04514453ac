extension Service {
    /// Runs a request through the hooks and the service, then emits its event.
    ///
    /// The request's path is ignored in favour of the service's own.
    @concurrent
    public nonisolated func respond(to request: ServiceRequest) async throws -> JSONValue {
        let plan = registration.plan(for: request.method, in: app)
        var request = request
        request.path = path
        guard !plan.pipeline.steps.isEmpty else {
            let result = try await plan.implementation.respond(to: request)
            if let event = plan.event { emit(event, of: result) }
            return result
        }
        var context = HookContext(app: app, service: self, request: request)
        try await plan.pipeline.run(&context, on: plan.implementation)
        let result = context.result ?? .null
        // A custom name or a custom method's event is emitted too; a service that emits the standard event itself keeps it to itself.
        if let event = context.event, plan.event != nil || event != EventName(endOf: request.method) {
            emit(event, of: context.dispatch ?? result)
        }
        return result
    }

    /// Emits an event to this process' subscribers, as a service does for its custom events.
    public nonisolated func emit(_ event: EventName, _ data: JSONValue) {
        registration.events.emit(ServiceEvent(path: path, name: event, data: data))
    }

    /// Emits one event per record: a multi operation's result is an array.
    private nonisolated func emit(_ event: EventName, of result: JSONValue) {
        guard registration.events.hasSubscribers else { return }
        if case .array(let records) = result {
            for record in records { emit(event, record) }
        } else {
            emit(event, result)
        }
    }
}
