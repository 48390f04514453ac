import FeathersSupport

/// What an app keeps of a service: the implementation, its hooks, its event hub, and the compiled pipelines.
///
/// It knows no app, so that an app and its services can be released; a ``Service`` joins the two.
final class ServiceRegistration: Sendable {
    let path: String
    let events = EventHub()
    private let state: Locked<State>

    private struct State: Sendable {
        var implementation: any ServiceProtocol
        var options: ServiceOptions
        var hooks = Hooks()
        var plans = CallPlanCache()
    }

    init(path: String, implementation: any ServiceProtocol, options: ServiceOptions = ServiceOptions()) {
        self.path = path
        state = Locked(State(implementation: implementation, options: options))
    }

    var implementation: any ServiceProtocol {
        state.withLock { $0.implementation }
    }

    var hooks: Hooks {
        state.withLock { $0.hooks }
    }

    /// Puts another service in this place; hooks and subscriptions stay.
    func replace(_ implementation: any ServiceProtocol, options: ServiceOptions) {
        state.withLock {
            $0.implementation = implementation
            $0.options = options
            $0.plans = CallPlanCache()
        }
    }

    func addHooks(_ hooks: Hooks) {
        state.withLock {
            $0.hooks.append(hooks)
            $0.plans = CallPlanCache()
        }
    }

    /// What to do for a call of a method, compiled once for as long as no hook is added.
    func plan(for method: ServiceMethod, in app: FeathersApp) -> CallPlan {
        let generation = app.hookGeneration
        if let plan = state.withLock({ $0.plans[method, generation] }) { return plan }
        // Compiled outside the lock: the app's hooks are behind a lock of their own. Whoever comes later
        // with the same generation writes the same plan.
        let appHooks = app.hooks
        return state.withLock { state in
            let isAllowed = state.options.methods?.contains(method) ?? true
            let event = EventName(endOf: method).flatMap { state.options.serviceEvents.contains($0) ? nil : $0 }
            let site = RequestSite(path: path, implementation: isAllowed ? state.implementation : RefusingService(), app: app)
            let implementation = site.staged(app: appHooks, service: state.hooks, for: method)
            let plan = CallPlan(
                implementation: implementation,
                pipeline: HookPipeline(app: appHooks, service: state.hooks, method: method, implementation: implementation),
                event: event)
            state.plans[method, generation] = plan
            return plan
        }
    }
}

/// Answers for the methods a registration's options leave out.
private struct RefusingService: ServiceProtocol {
    func respond(to request: ServiceRequest) async throws -> JSONValue {
        throw FeathersError.unsupported(request.method)
    }
}
