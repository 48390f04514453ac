/// The plan for calls of one method: a flat list of steps, with a table of error hooks beside it, like an exception
/// table.
///
///     app.around.all > app.around.m > app.before.all > app.before.m
///       > svc.around.all > svc.around.m > svc.before.all > svc.before.m > METHOD
///       > svc.after.all > svc.after.m, then svc.around unwinds
///     > app.after.all > app.after.m, then app.around unwinds
///
/// Error hooks cover a range of steps. Those of a method cover the before hooks of that method and everything inside.
/// Those of all methods also cover the before hooks of all methods. The whole call is reported, see
/// ``Hooks/logging(levels:redaction:verbosity:to:)``.
///
/// Shared by all calls, and immutable.
final class CallPlan: Sendable {
    enum Action: Sendable {
        /// Consecutive hooks of one type. They stay in their original array, because taking a closure out of it wraps
        /// the closure in another one (measured: 86 ns instead of 45 ns per hook).
        case hooks([Hook], HookType)
        /// One of several around hooks, which runs the steps up to `end` through `next`. It is called in its original
        /// array for the same reason (measured: 44 ns instead of 76 ns per hook).
        case around([AroundHook], index: Int, end: Int)
        /// Notes the caller's header fields, before the hooks of the app run.
        case noteFields
        /// Drops the header fields of the app's hooks if the service's server may not receive them.
        case dropFields(RemoteResponder)
        case method
    }

    struct Step: Sendable {
        var action: Action
        /// The innermost range of error hooks that contains the step.
        let scope: Int?
    }

    /// The error hooks of a range of steps.
    struct ErrorScope: Sendable {
        let hooks: [Hook]
        let start: Int
        /// The step at which the call continues after a hook has set a result.
        var end = 0
        let parent: Int?
    }

    /// The method that the plan is for; nil for every custom method without hooks of its own.
    private let method: ServiceMethod?
    /// The method: the implementation inside its middleware.
    let endpoint: any Responder
    /// The event the app emits after the method, if any.
    let event: EventName?
    /// Whether the method sends the call to a server.
    let isSent: Bool
    /// Whether requests belong to the user who is signed in when they are made, although no sign-in gate says so.
    let recordsSender: Bool
    /// Whether the implementation or a hook may call other services before the call ends.
    let mayCallOthers: Bool
    private let steps: [Step]
    private let scopes: [ErrorScope]
    private let diagnostics: Diagnostics

    /// Whether nothing observes or changes the call, so that it needs no context.
    var isBare: Bool { !hasHooks && diagnostics.isEmpty }
    /// Whether hooks may change the call.
    var hasHooks: Bool { steps.count > 1 || !scopes.isEmpty }

    init(app: Hooks, service: Hooks, method: ServiceMethod?, site: MiddlewareSite, event: EventName?) {
        // No hook is registered for the empty name.
        let name = method ?? ""
        var builder = CallPlanBuilder()
        let foreign = (site.implementation as? RemoteResponder).flatMap {
            !$0.isOwn && app.runs(before: name) ? $0 : nil
        }
        if foreign != nil { builder.add(.noteFields) }
        builder.addLevel(app, name) { builder in
            if let foreign { builder.add(.dropFields(foreign)) }
            builder.addLevel(service, name) { $0.add(.method) }
        }
        (steps, scopes) = (builder.steps, builder.scopes)
        endpoint = site.wrapped(app: app, service: service, for: name)
        self.method = method
        self.event = event
        isSent = site.implementation is RemoteResponder
        recordsSender = (isSent || site.path == nil) && site.app?.recordsSender == true
        mayCallOthers = steps.count > 1 || !scopes.isEmpty || !(isSent || site.implementation.actor is MemoryService)
        var diagnostics = app.diagnostics
        diagnostics.append(service.diagnostics)
        self.diagnostics = diagnostics
    }

    /// Runs the call. Inlined, so that a call without diagnostics costs one asynchronous frame.
    @inline(__always)
    func run(_ context: inout HookContext) async throws {
        if diagnostics.isEmpty { try await run(0, steps.count, &context) } else { try await runReported(&context) }
    }

    /// Runs the call and reports it. Everything inside reports to the same sinks.
    private func runReported(_ context: inout HookContext) async throws {
        let call = CallReporter(diagnostics, path: context.path, request: context.serviceRequest)
        call.began()
        do {
            try await Diagnostics.$current.withValue(call.diagnostics) {
                guard let span = call.diagnostics.call?.span else { return try await run(0, steps.count, &context) }
                try await TraceContext.$ofTask.withValue(span) { try await run(0, steps.count, &context) }
            }
        } catch {
            call.failed(error)
            throw error
        }
        call.succeeded(with: context.response)
    }

    /// Runs the steps inside an around hook.
    func runInside(_ index: Int, _ context: inout HookContext) async throws {
        guard case .around(_, _, let end) = steps[index].action else { return }
        try await run(index + 1, end, &context)
    }

    private func run(_ start: Int, _ end: Int, _ context: inout HookContext) async throws {
        var index = start
        while index < end {
            do {
                var next = index + 1
                switch steps[index].action {
                case .hooks(let hooks, let type):
                    for hook in hooks {
                        context.type = type
                        try await hook(&context)
                        if context.error != nil { try context.throwError() }
                    }
                case .around(let hooks, let position, let end):
                    context.type = .around
                    context.finishedNext = .max
                    try await hooks[position](&context, NextHook(plan: self, index: index))
                    if context.error != nil { try context.throwError() }
                    next = end
                case .noteFields: context.noteCallersFields()
                case .dropFields(let remote): context.dropAppFields(for: remote)
                case .method:
                    if context.serviceRequest.params.token != nil {
                        try context.serviceRequest.readToken(in: context.app)
                    }
                    try context.serviceRequest.checkUser(in: context.app)
                    // A hook may have set the result.
                    guard context.response == nil else { break }
                    context.type = .around
                    let endpoint = context.method == method ? endpoint : try await endpoint(of: context)
                    do {
                        context.response =
                            if let channel = context.resultChannel {
                                try await channel.run(endpoint, context.serviceRequest)
                            } else {
                                try await endpoint.respond(to: context.serviceRequest)
                            }
                    } catch let error as FeathersError where context.method != method {
                        // Names the method that ran: a read that a hook has turned into a write is not repeated as one.
                        throw error.ending(context.method, of: context.path)
                    }
                    if hasHooks, context.serviceRequest.params.readsFromServer, let response = context.response {
                        context.response?[AtMethod.self] = AtMethod(
                            query: context.serviceRequest.params.query, result: response.result)
                    }
                }
                index = next
            } catch {
                index = try await recover(from: error, at: index, above: start, &context)
            }
        }
    }

    /// Returns the endpoint of the call's method, which a hook may have changed, or which may be a custom method that
    /// shares this plan.
    /// - Throws: ``FeathersError/Code/badRequest`` if the id or data that the method needs is missing.
    private func endpoint(of context: HookContext) async throws -> any Responder {
        let (request, service) = (context.serviceRequest, context.service.registered)
        switch request.method {
        case .get, .update, .patch, .remove: if request.id == nil { throw missing("id", request) }
        case .find, .create, .custom: break
        }
        switch request.method {
        case .create, .update, .patch: if request.data == nil { throw missing("data", request) }
        case .find, .get, .remove, .custom: break
        }
        return await service.currentPlan(for: request.method, in: context.app).endpoint
    }

    private func missing(_ name: String, _ request: ServiceRequest) -> FeathersError {
        .refused("A hook has changed the method to '\(request.method)', which needs '\(name)': set context.\(name) too")
    }

    /// Runs the error hooks that cover a step, from the innermost to the outermost, until one of them sets a result.
    /// - Returns: The step at which to continue.
    private func recover(from failure: any Error, at index: Int, above start: Int, _ context: inout HookContext)
        async throws -> Int
    {
        var failure = failure
        var scope = steps[index].scope
        // A scope that begins before this run is outside an around hook. The outer run handles it.
        while let current = scope.map({ scopes[$0] }), current.start >= start {
            context.original = HookContext.Failure(type: context.type, result: context.response?.result)
            context.response = nil
            context.error = failure
            do {
                for hook in current.hooks {
                    context.type = .error
                    try await hook(&context)
                }
                failure = context.error ?? failure
                context.error = nil
                if context.response != nil { return current.end }
            } catch {
                // A new error, not the one that was handled: an outer around hook may still recover from it.
                context.error = nil
                failure = error
            }
            scope = current.parent
        }
        throw failure
    }
}

extension Hooks {
    /// Whether hooks run before a method.
    fileprivate func runs(before method: ServiceMethod) -> Bool {
        [HookScope.all, .method(method)].contains { !around[$0].isEmpty || !before[$0].isEmpty }
    }
}

/// Compiles hooks into steps.
private struct CallPlanBuilder {
    private(set) var steps: [CallPlan.Step] = []
    private(set) var scopes: [CallPlan.ErrorScope] = []
    private var scope: Int?

    mutating func add(_ action: CallPlan.Action) { steps.append(CallPlan.Step(action: action, scope: scope)) }

    /// Adds the hooks of an app or a service around the inner steps.
    mutating func addLevel(_ hooks: Hooks, _ method: ServiceMethod, _ inside: (inout Self) -> Void) {
        let named = HookScope.method(method)
        let first = steps.count
        let around = hooks.deadlines[.all] + hooks.deadlines[named] + hooks.around[.all] + hooks.around[named]
        for index in around.indices { add(.around(around, index: index, end: 0)) }
        enclosed(by: hooks.error[.all]) { builder in
            builder.add(hooks.before[.all], .before)
            builder.enclosed(by: hooks.error[named]) { builder in
                builder.add(hooks.before[named], .before)
                inside(&builder)
                builder.add(hooks.after[.all] + hooks.after[named], .after)
            }
        }
        for index in around.indices { steps[first + index].action = .around(around, index: index, end: steps.count) }
    }

    private mutating func add(_ hooks: [Hook], _ type: HookType) {
        if !hooks.isEmpty { add(.hooks(hooks, type)) }
    }

    private mutating func enclosed(by hooks: [Hook], _ inside: (inout Self) -> Void) {
        if hooks.isEmpty { return inside(&self) }
        let (new, outer) = (scopes.count, scope)
        scopes.append(CallPlan.ErrorScope(hooks: hooks, start: steps.count, parent: outer))
        scope = new
        inside(&self)
        scope = outer
        scopes[new].end = steps.count
    }
}
