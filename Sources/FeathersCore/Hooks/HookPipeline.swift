/// The hooks of an app and a service for one method, compiled into the order FeathersJS runs them in.
///
///     app.around.all > app.around.m > app.before.all > app.before.m
///       > svc.around.all > svc.around.m > svc.before.all > svc.before.m > METHOD
///       > svc.after.all > svc.after.m, then svc.around unwinds
///     > app.after.all > app.after.m, then app.around unwinds
///
/// Error hooks enclose what they hear: those of a method the before hooks of that method and all inside, those of all methods
/// the before hooks of all methods too. Immutable, so that every call may share it.
struct HookPipeline: Sendable {
    /// The outermost link, or nil where there is no hook at all.
    private let first: HookLink?

    init(app: Hooks, service: Hooks, method: ServiceMethod, implementation: any ServiceProtocol) {
        let inner = Self.link(service, for: method, before: nil, implementation: implementation)
        first = Self.link(app, for: method, before: inner, implementation: implementation)
    }

    /// Whether a call needs no context, since nobody would look at it.
    var isEmpty: Bool { first == nil }

    func run(_ context: inout HookContext) async throws {
        try await first?.run(&context)
    }

    /// Puts one level of hooks, from the inside out, before what is there.
    private static func link(
        _ hooks: Hooks, for method: ServiceMethod, before inner: HookLink?, implementation: any ServiceProtocol
    ) -> HookLink? {
        guard !hooks.isEmpty else { return inner }
        let named = HookScope.method(method)
        var link: HookLink = inner ?? MethodLink(implementation: implementation)
        func put<Function>(_ functions: [Function], _ make: ([Function], HookLink) -> HookLink) {
            if !functions.isEmpty { link = make(functions, link) }
        }
        put(hooks.after[.all] + hooks.after[named], AfterLink.init)
        put(hooks.before[named], BeforeLink.init)
        put(hooks.error[named], ErrorLink.init)
        put(hooks.before[.all], BeforeLink.init)
        put(hooks.error[.all], ErrorLink.init)
        for hook in (hooks.around[.all] + hooks.around[named]).reversed() { link = AroundLink(hook: hook, next: link) }
        for deadline in (hooks.deadlines[.all] + hooks.deadlines[named]).reversed() { link = DeadlineLink(deadline: deadline, next: link) }
        return link
    }
}
