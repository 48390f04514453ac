/// The hooks of an app and a service for one method, compiled into the order FeathersJS runs them in.
///
///     app.around.all > app.around.m > app.before.all > app.before.m
///       > svc.around.all > svc.around.m > svc.before.all > svc.before.m > METHOD
///       > svc.after.all > svc.after.m, then svc.around unwinds
///     > app.after.all > app.after.m, then app.around unwinds
///
/// Around all of it the call is reported, see ``Hooks/logging(levels:redaction:verbosity:to:)``.
///
/// Error hooks enclose what they hear: those of a method the before hooks of that method and all inside, those of all methods
/// the before hooks of all methods too. Immutable, so that every call may share it.
struct HookPipeline: Sendable {
    /// The outermost step, or nil where there is no hook at all: such a call needs no context, since nobody would look at it.
    let first: HookStep?
    /// Whether there are hooks whose purpose is to look at results.
    let looksAtResults: Bool

    init(app: Hooks, service: Hooks, method: ServiceMethod, implementation: any ServiceProtocol) {
        let inner = Self.steps(of: service, for: method, around: nil, implementation)
        let hooked = Self.steps(of: app, for: method, around: inner, implementation)
        looksAtResults = [app, service].contains { $0.looksAtResults || !$0.after[.all].isEmpty || !$0.after[.method(method)].isEmpty }
        var diagnostics = app.diagnostics
        diagnostics.append(service.diagnostics)
        guard !diagnostics.isEmpty else {
            first = hooked
            return
        }
        first = .reported(to: diagnostics, inside: hooked ?? .hooks(inside: .method(implementation)))
    }

    /// Puts one level of hooks, from the inside out, around what is there.
    private static func steps(
        of hooks: Hooks, for method: ServiceMethod, around inner: HookStep?, _ implementation: any ServiceProtocol
    ) -> HookStep? {
        guard hooks.concern(method) else { return inner }
        let named = HookScope.method(method)
        let (beforeAll, before) = (hooks.before[.all], hooks.before[named])
        let after = hooks.after[.all] + hooks.after[named]
        let (errorOfAll, errorOfMethod) = (hooks.error[.all], hooks.error[named])

        let inside = inner.map(HookStep.Inside.step) ?? .method(implementation)
        var step: HookStep
        if let inner, [beforeAll, before, after, errorOfAll, errorOfMethod].allSatisfy(\.isEmpty) {
            step = inner
        } else if errorOfMethod.isEmpty {
            step = .hooks(before: beforeAll + before, after: after, error: errorOfAll, inside: inside)
        } else {
            step = .hooks(before: before, after: after, error: errorOfMethod, inside: inside)
            if !beforeAll.isEmpty || !errorOfAll.isEmpty { step = .hooks(before: beforeAll, error: errorOfAll, inside: .step(step)) }
        }
        for hook in (hooks.around[.all] + hooks.around[named]).reversed() { step = .around(hook, inside: step) }
        for deadline in (hooks.deadlines[.all] + hooks.deadlines[named]).reversed() { step = .deadline(deadline, inside: step) }
        return step
    }
}
