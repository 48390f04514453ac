/// The hooks of an app and a service for one method, compiled into the order FeathersJS runs them in.
///
///     app.around.all > app.around.m > app.before.all > app.before.m
///       > svc.around.all > svc.around.m > svc.before.all > svc.before.m > METHOD
///       > svc.after.all > svc.after.m, then svc.around unwinds
///     > app.after.all > app.after.m, then app.around unwinds
///
/// Error hooks enclose what they hear: those of a method the before hooks of that method and all inside, those of all methods
/// the before hooks of all methods too. Immutable, so that every call may share it.
final class HookPipeline: Sendable {
    /// One thing to do on the way in; those that also act on the way out hold the rest of the pipeline inside them.
    enum Step: Sendable {
        case before(Hook)
        case around(AroundHook)
        case after([Hook])
        case error([Hook])
        case deadline(Deadline)
    }

    let steps: [Step]

    init(app: Hooks, service: Hooks, method: ServiceMethod) {
        steps = Self.steps(of: app, for: method) + Self.steps(of: service, for: method)
    }

    private static func steps(of hooks: Hooks, for method: ServiceMethod) -> [Step] {
        let named = HookScope.method(method)
        var steps: [Step] = []
        steps += (hooks.deadlines[.all] + hooks.deadlines[named]).map(Step.deadline)
        steps += (hooks.around[.all] + hooks.around[named]).map(Step.around)
        if !hooks.error[.all].isEmpty { steps.append(.error(hooks.error[.all])) }
        steps += hooks.before[.all].map(Step.before)
        if !hooks.error[named].isEmpty { steps.append(.error(hooks.error[named])) }
        steps += hooks.before[named].map(Step.before)
        let after = hooks.after[.all] + hooks.after[named]
        if !after.isEmpty { steps.append(.after(after)) }
        return steps
    }

    /// Runs the pipeline from a step on, the method at its end.
    func run(_ context: inout HookContext, from start: Int = 0, on implementation: any ServiceProtocol) async throws {
        var index = start
        while index < steps.count {
            switch steps[index] {
            case .before(let hook):
                try await runHook(hook, as: .before, &context)
            case .around(let hook):
                return try await runAround(hook, &context, inside: index + 1, on: implementation)
            case .after(let hooks):
                try await run(&context, from: index + 1, on: implementation)
                for hook in hooks { try await runHook(hook, as: .after, &context) }
                return
            case .error(let hooks):
                return try await runListening(hooks, &context, inside: index + 1, on: implementation)
            case .deadline(let deadline):
                return try await deadline.enforce(on: &context) { [index] context in
                    try await self.run(&context, from: index + 1, on: implementation)
                }
            }
            index += 1
        }
        guard context.result == nil else { return }
        context.type = .around
        context.result = try await implementation.respond(to: context.request)
    }

    private func runHook(_ hook: Hook, as type: HookType, _ context: inout HookContext) async throws {
        context.type = type
        try await hook(&context)
        if let error = context.error {
            context.error = nil
            throw error
        }
    }

    private func runAround(
        _ hook: AroundHook, _ context: inout HookContext, inside index: Int, on implementation: any ServiceProtocol
    ) async throws {
        context.type = .around
        var isDone = false
        try await hook(&context) { context in
            guard !isDone else { throw FeathersError(.generalError, "next() called multiple times") }
            isDone = true
            do {
                try await self.run(&context, from: index, on: implementation)
            } catch {
                isDone = false
                throw error
            }
            context.type = .around
        }
    }

    private func runListening(
        _ hooks: [Hook], _ context: inout HookContext, inside index: Int, on implementation: any ServiceProtocol
    ) async throws {
        do {
            try await run(&context, from: index, on: implementation)
        } catch {
            context.original = HookContext.Failure(type: context.type, result: context.result)
            context.error = error
            context.result = nil
            context.type = .error
            for hook in hooks { try await hook(&context) }
            let remaining = context.error ?? error
            context.error = nil
            if context.result == nil { throw remaining }
        }
    }
}
