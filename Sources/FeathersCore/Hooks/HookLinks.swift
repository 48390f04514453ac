/// One link of a compiled pipeline: does its part and runs the links inside it. By itself it only passes on.
///
/// A class rather than a protocol: a virtual call costs one asynchronous frame, a witness two.
class HookLink: @unchecked Sendable {
    // Sendable without the compiler's word because a class with subclasses gets none: this class and all below have only
    // `let` properties of Sendable types, and none of them is visible outside this module.
    final let next: HookLink?

    init(next: HookLink?) {
        self.next = next
    }

    func run(_ context: inout HookContext) async throws {
        try await next?.run(&context)
    }
}

/// The innermost link: the service's method, skipped where a hook has set the result.
final class MethodLink: HookLink, @unchecked Sendable {
    private let implementation: any ServiceProtocol

    init(implementation: any ServiceProtocol) {
        self.implementation = implementation
        super.init(next: nil)
    }

    override func run(_ context: inout HookContext) async throws {
        guard context.result == nil else { return }
        context.type = .around
        context.result = try await implementation.respond(to: context.request)
    }
}

final class BeforeLink: HookLink, @unchecked Sendable {
    private let hooks: [Hook]

    init(hooks: [Hook], next: HookLink) {
        self.hooks = hooks
        super.init(next: next)
    }

    override func run(_ context: inout HookContext) async throws {
        for hook in hooks {
            context.type = .before
            try await hook(&context)
            if context.error != nil { try context.throwError() }
        }
        try await next?.run(&context)
    }
}

final class AfterLink: HookLink, @unchecked Sendable {
    private let hooks: [Hook]

    init(hooks: [Hook], next: HookLink) {
        self.hooks = hooks
        super.init(next: next)
    }

    override func run(_ context: inout HookContext) async throws {
        try await next?.run(&context)
        for hook in hooks {
            context.type = .after
            try await hook(&context)
            if context.error != nil { try context.throwError() }
        }
    }
}

final class AroundLink: HookLink, @unchecked Sendable {
    private let hook: AroundHook

    init(hook: @escaping AroundHook, next: HookLink) {
        self.hook = hook
        super.init(next: next)
    }

    override func run(_ context: inout HookContext) async throws {
        context.type = .around
        var isDone = false
        try await hook(&context) { context in
            guard !isDone else { throw FeathersError(.generalError, "next() called multiple times") }
            isDone = true
            do {
                try await self.next?.run(&context)
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

final class ErrorLink: HookLink, @unchecked Sendable {
    private let hooks: [Hook]

    init(hooks: [Hook], next: HookLink) {
        self.hooks = hooks
        super.init(next: next)
    }

    override func run(_ context: inout HookContext) async throws {
        do {
            try await next?.run(&context)
        } catch {
            context.original = HookContext.Failure(type: context.type, result: context.result)
            context.error = error
            context.result = nil
            for hook in hooks {
                context.type = .error
                try await hook(&context)
            }
            let remaining = context.error ?? error
            context.error = nil
            if context.result == nil { throw remaining }
        }
    }
}

final class DeadlineLink: HookLink, @unchecked Sendable {
    private let deadline: Deadline

    init(deadline: Deadline, next: HookLink) {
        self.deadline = deadline
        super.init(next: next)
    }

    override func run(_ context: inout HookContext) async throws {
        try await deadline.enforce(on: &context) { context in try await self.next?.run(&context) }
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
