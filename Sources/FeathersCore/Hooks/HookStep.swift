/// One step of a compiled pipeline: does its part and runs the steps inside it.
///
/// The closure is boxed in a struct because a bare one, stored in an optional or an array, is wrapped in another that translates
/// its calling convention: one more asynchronous frame a step.
struct HookStep: Sendable {
    let run: @Sendable (inout HookContext) async throws -> Void
}

extension HookStep {
    /// What stands inside a step.
    enum Inside: Sendable {
        case step(HookStep)
        /// The innermost: the service's method, skipped where a hook has set the result.
        case method(any ServiceProtocol)
    }

    /// Before hooks, what stands inside, after hooks, and the error hooks of all of it: one step, since most pipelines have several of them and a
    /// step costs an asynchronous frame.
    static func hooks(before: [Hook] = [], after: [Hook] = [], error errorHooks: [Hook] = [], inside: Inside) -> HookStep {
        HookStep { context in
            do {
                for hook in before {
                    context.type = .before
                    try await hook(&context)
                    if context.error != nil { try context.throwError() }
                }
                switch inside {
                case .step(let step): try await step.run(&context)
                case .method(let implementation) where context.callResult == nil:
                    context.type = .around
                    if context.acceptsText, let service = implementation as? any TextService {
                        context.callResult = try await service.result(of: context.request)
                    } else {
                        context.callResult = .value(try await implementation.respond(to: context.request))
                    }
                case .method: break
                }
                for hook in after {
                    context.type = .after
                    try await hook(&context)
                    if context.error != nil { try context.throwError() }
                }
            } catch {
                if errorHooks.isEmpty { throw error }
                context.original = HookContext.Failure(type: context.type, result: context.result)
                context.error = error
                context.callResult = nil
                for hook in errorHooks {
                    context.type = .error
                    try await hook(&context)
                }
                let remaining = context.error ?? error
                context.error = nil
                if context.callResult == nil { throw remaining }
            }
        }
    }

    static func around(_ hook: @escaping AroundHook, inside next: HookStep) -> HookStep {
        HookStep { context in
            context.type = .around
            var isDone = false
            try await hook(&context) { context in
                guard !isDone else { throw FeathersError(.generalError, "next() called multiple times") }
                isDone = true
                do {
                    try await next.run(&context)
                } catch {
                    // A failed attempt may be repeated.
                    isDone = false
                    throw error
                }
                context.type = .around
            }
            if context.error != nil { try context.throwError() }
        }
    }

    static func deadline(_ deadline: Deadline, inside next: HookStep) -> HookStep {
        HookStep { context in try await deadline.enforce(on: &context, next.run) }
    }

    /// Reports the call, and lets everything inside report to the same sinks.
    static func reported(to diagnostics: Diagnostics, inside next: HookStep) -> HookStep {
        HookStep { context in
            let call = CallReporter(diagnostics, path: context.path, request: context.request)
            call.began()
            do {
                try await Diagnostics.$current.withValue(call.diagnostics) { try await next.run(&context) }
            } catch {
                call.failed(error)
                throw error
            }
            call.succeeded(with: context.callResult)
        }
    }
}

extension HookContext {
    /// Fails the call with the error a hook has set.
    fileprivate mutating func throwError() throws {
        guard let error else { return }
        self.error = nil
        throw error
    }
}
