// How a call runs: through the plan of its method, then its event.

extension Service {
    /// Runs a request whose token is known.
    ///
    /// Stays on the global executor: returning to the caller's actor at every step would cost a lookup. Inlined for the
    /// same reason (measured: a tenth of a call without hooks).
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent @inline(__always)
    func perform(_ request: consuming ServiceRequest) async throws -> ServiceResponse {
        guard app.callGate.enter() else { throw FeathersError.shuttingDown(request) }
        defer { app.callGate.leave() }
        let method = request.method
        do {
            let plan: CallPlan
            if let compiled = registered.compiledPlan(for: method, in: app) {
                plan = compiled
            } else {
                plan = await registered.plan(for: method, in: app)
            }
            if plan.recordsSender { request.recordSender(of: app) }
            let sender = request.sender ?? (plan.isSent && plan.event != nil ? app.currentSender : nil)
            if plan.isBare {
                try request.checkUser(in: app)
                let response =
                    plan.mayCallOthers
                    ? try await CallGate.$entered.withValue(app.callGate) {
                        try await plan.endpoint.respond(to: request)
                    }
                    : try await plan.endpoint.respond(to: request)
                if response.isStream { throw FeathersError.streams(method, of: path) }
                if let event = plan.event { emit(event, of: response, plan, sentAs: sender) }
                return response
            }
            return try await performHooks(of: plan, request, sentAs: sender)
        } catch {
            throw ending(error, method)
        }
    }

    /// Returns an error with the call that it ends. Added once, because inner stages do not know the whole call.
    @inline(never)
    private func ending(_ error: any Error, _ method: ServiceMethod) -> any Error {
        guard let error = error as? FeathersError, error.path == nil, !path.isEmpty else { return error }
        return error.ending(method, of: path)
    }

    /// Runs a request through its hooks. Not inlined, because calls without hooks would hold its frame while they wait.
    @concurrent @inline(never)
    private func performHooks(
        of plan: CallPlan, _ request: ServiceRequest, sentAs sender: RequestSender?
    ) async throws -> ServiceResponse {
        var context = HookContext(service: json, serviceRequest: request, event: plan.event)
        try await CallGate.$entered.withValue(app.callGate) { try await plan.run(&context) }
        var response = context.response ?? ServiceResponse(.null)
        if response.isStream { throw FeathersError.streams(request.method, of: path) }
        if plan.hasHooks, context.serviceRequest.params.readsFromServer, response[AtMethod.self] == nil {
            response[AtMethod.self] = AtMethod(query: nil, result: .null)
        }
        if let event = context.event {
            emit(event, of: response, plan, sentAs: sender, dispatch: context.dispatch)
        }
        return response
    }

    /// Runs a request whose token is known and whose result is streamed into a channel. It emits no event, because no
    /// stage sees the whole result.
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent
    func performStream(_ request: ServiceRequest, into channel: ResultChannel) async throws -> ServiceResponse {
        guard app.callGate.enter() else { throw FeathersError.shuttingDown(request) }
        defer { app.callGate.leave() }
        do {
            let plan = await registered.currentPlan(for: request.method, in: app)
            var request = request
            if plan.recordsSender { request.recordSender(of: app) }
            var context = HookContext(service: json, serviceRequest: request, event: nil)
            context.resultChannel = channel
            try await CallGate.$entered.withValue(app.callGate) { try await plan.run(&context) }
            return context.response ?? ServiceResponse(.null)
        } catch {
            throw ending(error, request.method)
        }
    }

    /// Emits an event for each record, since a multi operation returns an array. Emits nothing for writes made under an
    /// earlier sign-in.
    @inline(never)
    private func emit(
        _ event: EventName, of response: ServiceResponse, _ plan: CallPlan, sentAs sender: RequestSender?,
        dispatch: JSONValue? = nil
    ) {
        guard registered.events.hasSubscribers else { return }
        let sender = response[SentAs.self] ?? sender
        // Subscribers belong to the app's own user, and must not see what a server sent to another user.
        if plan.isSent, sender === RequestSender.ofCall { return }
        // Only to subscribers: the app's own caches observe its calls in their middleware.
        let result = dispatch ?? response.result
        let records = if case .array(let records) = result { records } else { [result] }
        app.serviceRegistry.hand(
            records.map { ServiceEvent(ownAt: path, name: event, data: $0) }, to: registered.events, sentAs: sender)
    }
}
