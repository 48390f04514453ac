import FeathersSupport

/// A service of an app: its implementation, its options, its hooks and its event subscribers.
///
/// The app holds one actor for each path. The actor owns the hooks and options, and its isolation orders their registration. Calls do not
/// run on the actor: they run concurrently and read an immutable plan that it publishes. You use a service through ``UntypedService`` or
/// ``TypedService``, which combine this actor with its app.
public actor Service {
    /// The path without leading and trailing slashes.
    public nonisolated let path: String

    nonisolated let events = EventHub<ServiceEvent>()
    /// Whether a subscriber was warned that the server sends no events.
    nonisolated let hasWarnedOfMissingEvents = Locked(false)
    /// The compiled plans; nil after a change to hooks, options or implementation.
    private nonisolated let published = Locked<CallPlans?>(nil)

    private(set) var hooks = Hooks()
    private(set) var implementation: any ServiceProtocol
    private var options: ServiceOptions

    init(path: String, implementation: any ServiceProtocol, options: ServiceOptions = ServiceOptions()) {
        (self.path, self.implementation, self.options) = (path, implementation, options)
    }

    /// Appends hooks. Calls that start after this method returns run them.
    public func use(hooks: Hooks) {
        self.hooks.append(hooks)
        published.withLock { $0 = nil }
    }

    /// Replaces the implementation. Hooks and event subscribers are kept.
    func replace(_ implementation: any ServiceProtocol, options: ServiceOptions) {
        (self.implementation, self.options) = (implementation, options)
        published.withLock { $0 = nil }
    }

    /// Returns the plan for a method; nil if hooks have changed since it was compiled.
    nonisolated func compiledPlan(for method: ServiceMethod, in app: FeathersApp) -> CallPlan? {
        published.withLock { plans in plans?.version == app.hookVersion ? plans?[method] : nil }
    }

    /// Compiles on the actor when the next call needs it, so that many registrations cost one compilation.
    func plan(for method: ServiceMethod, in app: FeathersApp) -> CallPlan { compile(for: app)[method] }

    private func compile(for app: FeathersApp) -> CallPlans {
        let (version, appHooks) = app.versionedHooks
        // Another call may have compiled the plans while this one waited for the actor.
        if let plans = published.withLock({ $0 }), plans.version == version { return plans }
        let plans = CallPlans(
            version: version, app: appHooks, service: hooks, options: options,
            site: MiddlewareSite(path: path.isEmpty ? nil : path, implementation: implementation, app: app))
        published.withLock { $0 = plans }
        return plans
    }
}

/// The immutable plans of all methods of a service, with the version of the app's hooks that they were compiled from.
private final class CallPlans: Sendable {
    let version: Int
    /// Feathers' six methods have their own properties, because every call looks one up.
    private let find, get, create, update, patch, remove: CallPlan
    private let custom: [ServiceMethod: CallPlan]
    /// The plan for custom methods without their own hooks.
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
