import FeathersSupport

/// A service of an app: Feathers' six methods, custom ones, hooks and events.
///
/// ```swift
/// let messages = app.service("messages")
/// let message = try await messages.create(["text": "Hi"])
/// ```
///
/// It works the same for local services and for those on a server, and keeps its app alive. Calls run concurrently. Every method throws
/// ``FeathersError``, `CancellationError`, or what your own hooks throw.
///
/// In every method, `query` has the conditions that records must match, their order and number, and the properties of the result; `params`
/// carries header fields, values for the path's placeholders, a deadline, and values of your own for hooks. A query in `params.query`
/// counts too: a record must match the conditions of both, and the argument's `$limit`, `$skip`, `$sort` and `$select` win.
public struct UntypedService: Sendable {
    /// The app the service belongs to.
    public let app: FeathersApp
    /// The actor that owns the service's hooks and options.
    public let actor: Service

    init(app: FeathersApp, actor: Service) {
        (self.app, self.actor) = (app, actor)
    }

    /// The path without leading and trailing slashes.
    public var path: String { actor.path }

    /// Adds hooks behind the present ones. Calls that start after this returns run them.
    public func use(hooks: Hooks) async { await actor.use(hooks: hooks) }

    /// The hooks registered on this service.
    package var hooks: Hooks { get async { await actor.hooks } }
}

extension UntypedService {
    /// Lists the records that match a query: an array, or a page. Read either with ``Paginated/init(json:)``.
    @concurrent
    public func find(_ query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.find, query: query, params: params)).result
    }

    /// Reads one record.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such record, or the query does not match it.
    @concurrent
    public func get(_ id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()) async throws
        -> JSONValue
    {
        try await execute(request(.get, id: id.serviceID, query: query, params: params)).result
    }

    /// Creates a record.
    /// - Returns: the record as the service keeps it, with its id.
    @concurrent @discardableResult
    public func create(_ data: JSONValue, query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.create, data: data, query: query, params: params)).result
    }

    /// Creates several records in one call.
    /// - Returns: an array of the records as the service keeps them.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service takes one at a time.
    @concurrent @discardableResult
    public func create(contentsOf data: [JSONValue], query: Query = Query(), params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.create, data: .array(data), query: query, params: params)).result
    }

    /// Replaces a record. Properties that `data` leaves out are gone; ``patch(_:with:_:params:)`` keeps them.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such record, or the query does not match it.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(request(.update, id: id.serviceID, data: data, query: query, params: params)).result
    }

    /// Merges data into a record.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such record, or the query does not match it.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(request(.patch, id: id.serviceID, data: data, query: query, params: params)).result
    }

    /// Merges data into every record that matches a query. With an empty query, and none in `params.query`, every record matches.
    /// - Returns: an array of the changed records.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service changes one at a time.
    @concurrent @discardableResult
    public func patchAll(query: Query, with data: JSONValue, params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.patch, data: data, query: query, params: params)).result
    }

    /// Removes a record.
    /// - Returns: the record as it was.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such record, or the query does not match it.
    @concurrent @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(request(.remove, id: id.serviceID, query: query, params: params)).result
    }

    /// Removes every record that matches a query. With an empty query, and none in `params.query`, every record matches.
    /// - Returns: an array of the records as they were.
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` if the service removes one at a time.
    @concurrent @discardableResult
    public func removeAll(query: Query, params: Params = Params()) async throws -> JSONValue {
        try await execute(request(.remove, query: query, params: params)).result
    }

    /// Calls a custom method.
    /// - Throws: ``FeathersError/Code/badRequest`` for one of Feathers' six, and ``FeathersError/Code/methodNotAllowed`` if the service has no such method.
    @concurrent @discardableResult
    public func call(
        _ method: ServiceMethod, with data: JSONValue = .null, query: Query = Query(), params: Params = Params()
    ) async throws -> JSONValue {
        try await execute(customRequest(method, data: data, query: query, params: params)).result
    }

    /// Runs any request of this service through its hooks, and gives the response with its metadata.
    ///
    /// The request's path is replaced by the service's own.
    @concurrent
    public func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        var request = request
        request.path = path
        return try await execute(request)
    }
}

extension UntypedService {
    /// Runs a request through the hooks and the service, then emits its event.
    ///
    /// Stays on the global executor: returning to the caller's actor at every step would cost a lookup.
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent
    func execute(_ request: consuming ServiceRequest) async throws -> ServiceResponse {
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
            // Only what may call others has to be told from a call that comes too late.
            let isInside = !plan.mayCallOthers || CallGate.entered === app.gate
            if plan.isBare {
                let request = request
                let response =
                    isInside
                    ? try await plan.endpoint.respond(to: request)
                    : try await CallGate.$entered.withValue(app.gate) { try await plan.endpoint.respond(to: request) }
                if let event = plan.event { emit(event, of: response, response.result) }
                return response
            }
            var context = HookContext(service: self, request: request, event: plan.event)
            if isInside {
                try await plan.run(&context)
            } else {
                try await CallGate.$entered.withValue(app.gate) { try await plan.run(&context) }
            }
            let response = context.response ?? ServiceResponse(.null)
            if let event = context.event { emit(event, of: response, context.dispatch ?? response.result) }
            return response
        } catch let error as FeathersError where error.path == nil && !path.isEmpty {
            // Once, here: what fails on the way does not know whose call it carries.
            throw error.ending(method, of: path)
        }
    }

    /// Emits an event for each record: the result of a multi operation is an array. None for what was written in an earlier sign-in.
    private func emit(_ event: EventName, of response: ServiceResponse, _ result: @autoclosure () -> JSONValue) {
        guard actor.events.hasSubscribers else { return }
        // Only to the readers: the app's own caches learn of its own calls where they pass.
        let result = result()
        let records = if case .array(let records) = result { records } else { [result] }
        app.registry.hand(
            records.map { ServiceEvent(path: path, name: event, data: $0) }, to: actor.events, sentAs: response[SentAs.self])
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

    /// A request with the conditions of both queries.
    func request(_ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, query: Query, params: Params) -> ServiceRequest {
        ServiceRequest(path: path, method: method, id: id, data: data, params: params.joining(query))
    }
}

extension Params {
    /// The params with the conditions of another query too.
    package func joining(_ query: Query) -> Params {
        if query.isEmpty { return self }
        var params = self
        params.query = params.query.joined(with: query)
        return params
    }

    /// The params for a caller that sends the query by other means.
    package var withoutQuery: Params {
        if query.isEmpty { return self }
        var params = self
        params.query = Query()
        return params
    }
}

extension Query {
    /// The conditions of both queries; of `$limit`, `$skip`, `$sort` and `$select`, those of the other one win. Conditions on the same property go into `$and`.
    package func joined(with other: Query) -> Query {
        if isEmpty { return other }
        var joined = self
        for (key, value) in other.json {
            switch (key, joined.json[key]) {
            case ("$limit", _), ("$skip", _), ("$sort", _), ("$select", _), (_, nil): joined.json[key] = value
            case (_, value): break
            case ("$and", _):
                for case .object(let condition) in value.array ?? [] { joined.require(condition) }
            default: joined.require([key: value])
            }
        }
        return joined
    }
}

// MARK: - Events

extension UntypedService {
    /// The records of one kind of event, received from now on.
    ///
    /// The stream listens from the moment it is made, has a bounded buffer of its own, and ends when it is dropped or its reader's task is cancelled.
    /// Make one stream for each reader: two readers of one stream share its events, and cancelling one ends both.
    /// - Parameters:
    ///   - name: a standard event or a custom one.
    ///   - limit: how many of the newest events are kept for a slow reader, as with `AsyncStream`'s `.bufferingNewest(limit)`. Older ones are
    ///     dropped; ``deliveries(_:buffering:)`` tells where.
    public func events(_ name: EventName, buffering limit: Int = Service.defaultEventBuffer) -> AsyncStream<JSONValue> {
        subscribe(to: [name], buffering: limit).events(diagnostics) { $0.data }
    }

    /// Events of several kinds with their names, received from now on; Feathers' four unless named.
    public func events(
        _ names: [EventName] = EventName.standard, buffering limit: Int = Service.defaultEventBuffer
    ) -> AsyncStream<ServiceEvent> {
        subscribe(to: names, buffering: limit).events(diagnostics) { $0 }
    }

    /// Every event of the service, custom ones included, received from now on.
    public func allEvents(buffering limit: Int = Service.defaultEventBuffer) -> AsyncStream<ServiceEvent> {
        subscribe(to: nil, buffering: limit).events(diagnostics) { $0 }
    }

    /// The changes of the service's records, received from now on.
    public func changes(buffering limit: Int = Service.defaultEventBuffer) -> AsyncStream<ServiceChange<JSONValue>> {
        subscribe(to: EventName.standard, buffering: limit).events(diagnostics) { try $0.change(of: $0.data) }
    }

    /// Events with markers where some are missing; Feathers' four events unless named.
    public func deliveries(
        _ names: [EventName] = EventName.standard, buffering limit: Int = Service.defaultEventBuffer
    ) -> AsyncStream<EventDelivery<ServiceEvent>> {
        subscribe(to: names, buffering: limit).deliveries(diagnostics) { $0 }
    }

    /// Emits an event to the readers in this process, as a service does for its custom events.
    public func emit(_ event: EventName, _ data: JSONValue) {
        let event = ServiceEvent(path: path, name: event, data: data)
        app.registry.observe { $0.receive(event) }
        actor.events.emit(event)
    }

    /// Subscribes to events, and warns of a server that sends none: once for each service.
    func subscribe(to names: [EventName]?, buffering limit: Int) -> EventReading<ServiceEvent> {
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
                    "The app's transport receives no events: readers of service '\(path)' see only the changes that this app makes itself",
                    [.path: .string(path)])
            }
        }
        let reading = actor.events.subscribe(to: names, buffering: limit)
        reading.onSecondReader { [app = app.weakReference, path] in
            app.app?.diagnostics.log(
                .warning, .events,
                "Two readers share one stream of the events of service '\(path)', so that each of them misses some: make a stream for each",
                [.path: .string(path)])
        }
        return reading
    }

    /// Where the readers of events report. Not through the app: a stream does not keep it.
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
