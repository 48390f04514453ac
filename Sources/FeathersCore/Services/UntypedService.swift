import FeathersSupport

/// A service of an app, with Feathers' six methods, custom methods, hooks and events.
///
/// ```swift
/// let messages = app.service("messages")
/// let message = try await messages.create(["text": "Hi"])
/// ```
///
/// It works the same for local and remote services, and keeps its app alive. Calls run concurrently. Every method throws
/// ``FeathersError``, `CancellationError`, or any error that your own hooks throw.
///
/// In every method, `query` contains the conditions that records must match, their order and number, and the properties of the result. `params`
/// contains header fields, values for the path's placeholders, a deadline, and values of your own for hooks. A query in `params.query` also
/// applies: records must match both queries' conditions, and the argument's `$limit`, `$skip`, `$sort` and `$select` take precedence.
public struct UntypedService: Sendable {
    /// The app the service belongs to.
    public let app: FeathersApp
    /// The actor that owns the service's hooks and options.
    public let actor: Service
    /// The property that holds a record's id, as its ``ServiceDefinition`` says.
    package var idProperty = "id"

    init(app: FeathersApp, actor: Service) {
        (self.app, self.actor) = (app, actor)
    }

    /// The path without leading and trailing slashes.
    public var path: String { actor.path }

    /// Appends hooks. Calls that start after this method returns run them.
    public func use(hooks: Hooks) async { await actor.use(hooks: hooks) }

    /// The hooks registered on this service.
    package var hooks: Hooks { get async { await actor.hooks } }
}

extension UntypedService {
    /// Returns the records that match a query: an array or a page. Read either with ``Paginated/init(json:)``.
    @concurrent
    public func find(_ query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.find, query: query, params: params)).result
    }

    /// Reads one record.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent
    public func get(_ id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()) async throws
        -> JSONValue
    {
        try await execute(request(.get, id: id.serviceID, query: query, params: params)).result
    }

    /// Creates a record.
    /// - Returns: the record as the service stored it, with its id.
    @concurrent @discardableResult
    public func create(_ data: JSONValue, query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.create, data: data, query: query, params: params)).result
    }

    /// Creates several records in one call.
    /// - Returns: an array of the records as the service stored them.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service creates only one record at a time.
    @concurrent @discardableResult
    public func create(contentsOf data: [JSONValue], query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.create, data: .array(data), query: query, params: params)).result
    }

    /// Replaces a record. Properties missing from `data` are removed; use `patch(_:with:query:params:)` to keep them.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(request(.update, id: id.serviceID, data: data, query: query, params: params)).result
    }

    /// Merges data into a record.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(request(.patch, id: id.serviceID, data: data, query: query, params: params)).result
    }

    /// Merges data into every record that matches a query. If the query and `params.query` are empty, every record matches.
    /// - Returns: an array of the changed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service changes only one record at a time.
    @concurrent @discardableResult
    public func patchAll(query: Query, with data: JSONValue, params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.patch, data: data, query: query, params: params)).result
    }

    /// Removes a record.
    /// - Returns: the removed record.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    @concurrent @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(request(.remove, id: id.serviceID, query: query, params: params)).result
    }

    /// Removes every record that matches a query. If the query and `params.query` are empty, every record matches.
    /// - Returns: an array of the removed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service removes only one record at a time.
    @concurrent @discardableResult
    public func removeAll(query: Query, params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.remove, query: query, params: params)).result
    }

    /// Calls a custom method.
    /// - Throws: ``FeathersError/Code/badRequest`` for one of Feathers' six, ``FeathersError/Code/methodNotAllowed`` for an unknown method.
    @concurrent @discardableResult
    public func call(
        _ method: ServiceMethod, with data: JSONValue = .null, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(customRequest(method, data: data, query: query, params: params)).result
    }

    /// Runs any request of this service through its hooks, and returns the response with its metadata.
    ///
    /// The service's own path replaces the request's.
    @concurrent
    public func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        var request = request
        request.path = path
        return try await execute(request)
    }
}

extension UntypedService {
    /// Runs a request whose token is known.
    ///
    /// Stays on the global executor: returning to the caller's actor at every step would cost a lookup. Inlined for the same reason (measured: a
    /// tenth of a call without hooks).
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent @inline(__always)
    func perform(_ request: consuming ServiceRequest) async throws -> ServiceResponse {
        guard app.gate.enter() else { throw FeathersError.shuttingDown(request) }
        defer { app.gate.leave() }
        let method = request.method
        do {
            let plan: CallPlan
            if let compiled = actor.compiledPlan(for: method, in: app) {
                plan = compiled
            } else {
                plan = await actor.plan(for: method, in: app)
            }
            if plan.recordsSender { request.recordSender(of: app) }
            let sender = request.sender ?? (plan.isSent && plan.event != nil ? app.currentSender : nil)
            let sentAt = app.registry.responseCount
            if plan.isBare {
                let response =
                    plan.mayCallOthers
                    ? try await CallGate.$entered.withValue(app.gate) { try await plan.endpoint.respond(to: request) }
                    : try await plan.endpoint.respond(to: request)
                if response.isStream { throw FeathersError.streams(method, of: path) }
                if let event = plan.event { emit(event, of: response, plan, sentAs: sender, at: sentAt, response.result) }
                return response
            }
            var context = HookContext(service: self, request: request, event: plan.event)
            try await CallGate.$entered.withValue(app.gate) { try await plan.run(&context) }
            let response = context.response ?? ServiceResponse(.null)
            if response.isStream { throw FeathersError.streams(method, of: path) }
            if let event = context.event {
                emit(event, of: response, plan, sentAs: sender, at: sentAt, context.dispatch ?? response.result)
            }
            return response
        } catch let error as FeathersError where error.path == nil && !path.isEmpty {
            // Added once, here, because inner stages do not know the whole call.
            throw error.ending(method, of: path)
        }
    }

    /// Runs a request whose token is known and whose result is streamed into a channel. It emits no event, because no stage sees the whole result.
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent
    func performStream(_ request: ServiceRequest, into channel: ResultChannel) async throws -> ServiceResponse {
        guard app.gate.enter() else { throw FeathersError.shuttingDown(request) }
        defer { app.gate.leave() }
        do {
            var plan = actor.compiledPlan(for: request.method, in: app)
            if plan == nil { plan = await actor.plan(for: request.method, in: app) }
            var request = request
            if plan?.recordsSender == true { request.recordSender(of: app) }
            var context = HookContext(service: self, request: request, event: nil)
            context.channel = channel
            try await CallGate.$entered.withValue(app.gate) { try await plan?.run(&context) }
            return context.response ?? ServiceResponse(.null)
        } catch let error as FeathersError where error.path == nil && !path.isEmpty {
            throw error.ending(request.method, of: path)
        }
    }

    /// Emits an event for each record, since a multi operation returns an array. Emits nothing for writes made under an earlier sign-in.
    private func emit(
        _ event: EventName, of response: ServiceResponse, _ plan: CallPlan, sentAs sender: RequestSender?, at sentAt: Int,
        _ result: @autoclosure () -> JSONValue
    ) {
        guard actor.events.hasSubscribers else { return }
        let sender = response[SentAs.self] ?? sender
        // What a server told another user is not shown to the subscribers, who belong to the app's own.
        if plan.isSent, sender === RequestSender.ofCall { return }
        let receivedAt = app.registry.countResponse()
        // Only to subscribers: the app's own caches observe its calls in their middleware.
        let result = result()
        let records = if case .array(let records) = result { records } else { [result] }
        app.registry.hand(
            records.map { ServiceEvent(path: path, name: event, data: $0, sentAt: sentAt, receivedAt: receivedAt) }, to: actor.events,
            sentAs: sender)
    }

    /// - Throws: ``FeathersError/Code/badRequest`` for one of Feathers' six methods.
    func customRequest(_ method: ServiceMethod, data: JSONValue, query: Query, params: Params) throws(FeathersError) -> ServiceRequest {
        guard method.isCustom else {
            throw FeathersError(
                .badRequest, "'\(method)' is not a custom method: use '\(method)(…)' instead of 'call(\"\(method)\")'",
                execution: .neverSent)
        }
        return request(method, data: data, query: query, params: params)
    }

    /// Returns a request with the conditions of both queries.
    func request(_ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, query: Query, params: Params) -> ServiceRequest {
        ServiceRequest(path: path, method: method, id: id, data: data, params: params.joining(query))
    }
}

extension Params {
    /// Returns the params with the conditions of another query added.
    package func joining(_ query: Query) -> Params {
        if query.isEmpty { return self }
        var params = self
        params.query = params.query.joined(with: query)
        return params
    }

    /// Returns the params without the query, for a caller that sends it by other means.
    package var withoutQuery: Params {
        if query.isEmpty { return self }
        var params = self
        params.query = Query()
        return params
    }
}

extension Query {
    /// Combines the conditions of both queries. `other` wins for `$limit`, `$skip`, `$sort` and `$select`. Conditions
    /// that share no object go into `$and`.
    package func joined(with other: Query) -> Query {
        if isEmpty { return other }
        var joined = self
        for (key, value) in other.json {
            switch key {
            case "$limit", "$skip", "$sort", "$select": joined.json[key] = value
            case "$and" where joined.json[key] != nil && value.array != nil:
                for case .object(let condition) in value.array ?? [] where joined.json[key] != value {
                    joined.require(condition)
                }
            default: joined.add(value, on: key)
            }
        }
        return joined
    }
}

// MARK: - Events

extension UntypedService {
    /// Returns the records of future events of one kind.
    ///
    /// The stream starts listening when it is created, has its own bounded buffer, and ends when it is dropped or its reader's task is cancelled.
    /// Create one stream for each reader: two readers of one stream share its events, and cancelling one ends both.
    /// - Parameters:
    ///   - name: a standard event or a custom one.
    ///   - limit: the number of newest events to buffer for a slow reader, as with `AsyncStream`'s `.bufferingNewest(limit)`. Older events are
    ///     dropped; ``deliveries(_:bufferingNewest:)`` shows where.
    public func events(_ name: EventName, bufferingNewest limit: Int = Service.defaultEventBuffer) -> AsyncStream<JSONValue> {
        subscribe(to: [name], bufferingNewest: limit).events(diagnostics) { $0.data }
    }

    /// Returns future events of several kinds with their names; Feathers' four by default. Pass nil for all of them, including custom events.
    public func events(
        _ names: [EventName]? = EventName.standard, bufferingNewest limit: Int = Service.defaultEventBuffer
    ) -> AsyncStream<ServiceEvent> {
        subscribe(to: names, bufferingNewest: limit).events(diagnostics) { $0 }
    }

    /// Returns future changes of the service's records.
    public func changes(bufferingNewest limit: Int = Service.defaultEventBuffer) -> AsyncStream<ServiceChange<JSONValue>> {
        subscribe(to: EventName.standard, bufferingNewest: limit).events(diagnostics) { try $0.change(of: $0.data) }
    }

    /// Returns future events with markers where some are missing; Feathers' four by default.
    public func deliveries(
        _ names: [EventName] = EventName.standard, bufferingNewest limit: Int = Service.defaultEventBuffer
    ) -> AsyncStream<EventDelivery<ServiceEvent>> {
        subscribe(to: names, bufferingNewest: limit).deliveries(diagnostics) { $0 }
    }

    /// Subscribes to Feathers' four events for a reader that can also be woken.
    package func reading() -> EventReading<ServiceEvent> { subscribe(to: EventName.standard, bufferingNewest: Service.defaultEventBuffer) }

    /// Emits an event to the subscribers in this process, as a service does for its custom events.
    public func emit(_ event: EventName, _ data: JSONValue) {
        let event = ServiceEvent(path: path, name: event, data: data)
        app.registry.observe { $0.receive(event) }
        actor.events.emit(event)
    }

    /// Subscribes to events, and warns once per service if the server sends none.
    /// - Parameters:
    ///   - names: the events to deliver; nil for all of them.
    ///   - limit: the number of events to buffer for a slow reader.
    func subscribe(to names: [EventName]?, bufferingNewest limit: Int) -> EventReading<ServiceEvent> {
        if app.transport != nil, app.realTimeTransport == nil, app.registry.registered(at: path) == nil {
            let diagnostics = app.diagnostics
            let isFirst =
                diagnostics.wants(.warning, .events)
                && actor.hasWarnedOfMissingEvents.withLock { hasWarned in
                    defer { hasWarned = true }
                    return !hasWarned
                }
            if isFirst {
                diagnostics.log(
                    .warning, .events,
                    "The app's transport receives no events: subscribers of service '\(path)' see only the changes that this app makes",
                    [.path: .string(path)])
            }
        }
        let reading = actor.events.subscribe(to: names, bufferingNewest: limit)
        reading.onSecondReader { [app = app.weakReference, path] in
            app.app?.diagnostics.log(
                .warning, .events,
                "Two readers share one event stream of service '\(path)', so each of them misses events: create a stream for each reader",
                [.path: .string(path)])
        }
        return reading
    }

    /// The diagnostics that event streams report to. Holds the app weakly, because a stream does not retain its app.
    var diagnostics: @Sendable () -> Diagnostics {
        { [app = app.weakReference] in app.app?.diagnostics ?? Diagnostics() }
    }
}

extension ServiceEvent {
    /// - Throws: ``FeathersError`` for an event that is not one of Feathers' four.
    func change<Record>(of record: Record) throws(FeathersError) -> ServiceChange<Record> {
        guard let change = ServiceChange(name, record) else {
            throw FeathersError(.generalError, "'\(name)' is not one of Feathers' four events")
        }
        return change
    }
}
