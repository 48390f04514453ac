import FeathersSupport

/// A service of an app: its implementation, its options, its hooks and the readers of its events.
///
/// There is one actor for each path, kept by the app. It owns the hooks and options; registering them is ordered by its isolation. Calls do not run on
/// the actor: they read an immutable plan that it publishes, and run beside each other. What you hold is an ``UntypedService`` or a
/// ``TypedService``, which joins this actor with its app.
public actor Service {
    /// The path without leading and trailing slashes.
    public nonisolated let path: String

    nonisolated let events = EventHub<ServiceEvent>()
    /// Whether a reader was warned that the server sends no events.
    nonisolated let hasWarnedOfMissingEvents = Locked(false)
    /// The compiled plans; nil after a change of hooks, options or implementation.
    private nonisolated let published = Locked<CallPlans?>(nil)

    private(set) var hooks = Hooks()
    private(set) var implementation: any ServiceProtocol
    private var options: ServiceOptions

    init(path: String, implementation: any ServiceProtocol, options: ServiceOptions = ServiceOptions()) {
        (self.path, self.implementation, self.options) = (path, implementation, options)
    }

    /// Adds hooks behind the present ones. Calls that start after this returns run them.
    public func use(hooks: Hooks) {
        self.hooks.append(hooks)
        published.withLock { $0 = nil }
    }

    /// Puts another implementation in place. Hooks and readers of events stay.
    func replace(_ implementation: any ServiceProtocol, options: ServiceOptions) {
        (self.implementation, self.options) = (implementation, options)
        published.withLock { $0 = nil }
    }

    /// What to do for a call of a method; nil if the hooks have changed since it was compiled.
    nonisolated func compiledPlan(for method: ServiceMethod, in app: FeathersApp) -> CallPlan? {
        guard let plans = published.withLock({ $0 }), plans.version == app.hookVersion else { return nil }
        return plans[method]
    }

    /// Compiles on the actor, so that twenty registrations of hooks cost one compilation, by the next call.
    func plan(for method: ServiceMethod, in app: FeathersApp) -> CallPlan { compile(for: app)[method] }

    private func compile(for app: FeathersApp) -> CallPlans {
        let (version, appHooks) = app.versionedHooks
        // A call that waited here behind another finds its work done.
        if let plans = published.withLock({ $0 }), plans.version == version { return plans }
        let plans = CallPlans(
            version: version, app: appHooks, service: hooks, options: options,
            site: MiddlewareSite(path: path.isEmpty ? nil : path, implementation: implementation, app: app))
        published.withLock { $0 = plans }
        return plans
    }
}

/// The plans of all methods of a service, and the version of the app's hooks they were made of. Immutable.
private final class CallPlans: Sendable {
    let version: Int
    /// Feathers' six methods have places of their own, since every call looks one up.
    private let find, get, create, update, patch, remove: CallPlan
    private let custom: [ServiceMethod: CallPlan]
    /// The plan of custom methods without hooks of their own.
    private let anyCustom: CallPlan

    init(version: Int, app: Hooks, service: Hooks, options: ServiceOptions, site: MiddlewareSite) {
        func plan(_ method: ServiceMethod, isAllowed: Bool? = nil) -> CallPlan {
            let isAllowed = isAllowed ?? options.methods?.contains(method) ?? true
            let event = EventName(endOf: method).flatMap { options.serviceEvents.contains($0) ? nil : $0 }
            return CallPlan(
                app: app, service: service, method: method, site: isAllowed ? site : site.refusing(), event: event)
        }
        self.version = version
        (find, get, create) = (plan(.find), plan(.get), plan(.create))
        (update, patch, remove) = (plan(.update), plan(.patch), plan(.remove))
        let named = app.methods.union(service.methods).union(options.methods ?? []).filter(\.isCustom)
        custom = Dictionary(uniqueKeysWithValues: named.map { ($0, plan($0)) })
        // No hook is registered for the empty name.
        anyCustom = plan("", isAllowed: options.methods == nil)
    }

    subscript(method: ServiceMethod) -> CallPlan {
        switch method {
        case .find: find
        case .get: get
        case .create: create
        case .update: update
        case .patch: patch
        case .remove: remove
        case .custom: custom[method] ?? anyCustom
        }
    }
}
