import FeathersSupport
import Synchronization

/// The actor behind a path of an app: the implementation, the options, the hooks and the event subscribers.
///
/// The app holds one actor for each path. The actor owns the hooks and options, and its isolation orders their
/// registration. Calls do not run on the actor: they run concurrently and read an immutable plan that it publishes. You
/// use a service through ``Service``, which combines this actor with its app.
public actor RegisteredService {
    /// The path without leading and trailing slashes.
    public nonisolated let path: String

    nonisolated let events = EventHub<ServiceEvent>()
    nonisolated let eventHooks = EventHookList()
    /// Whether a subscriber was warned that the server sends no events.
    nonisolated let hasWarnedOfMissingEvents = Locked(false)
    /// The compiled plans; nil after a change to hooks, options or implementation.
    private nonisolated let published = Locked<CallPlans?>(nil)
    private nonisolated let options: Locked<ServiceOptions>
    private nonisolated let hasHooks = Atomic(false)
    /// How the app has last read the records as a model, if not in its usual way.
    private nonisolated let formats = Locked<[ObjectIdentifier: RecordFormat]>([:])

    private(set) var hooks = Hooks()
    private(set) var implementation: any Responder

    init(path: String, implementation: any Responder, options: ServiceOptions = ServiceOptions()) {
        (self.path, self.implementation, self.options) = (path, implementation, Locked(options))
    }

    /// The transport that calls are sent over; nil for a service of the app.
    package var transport: (any Transport)? { (implementation as? RemoteResponder)?.transport }

    /// Whether hooks or subscribers would get lost with this object.
    nonisolated var isInUse: Bool { hasHooks.load(ordering: .acquiring) || events.hasSubscribers }

    nonisolated func remember<Model>(_ format: RecordFormat, of model: Model.Type) {
        formats.withLock { $0[ObjectIdentifier(model)] = format }
    }

    nonisolated func format<Model>(of model: Model.Type) -> RecordFormat? {
        formats.withLock { $0[ObjectIdentifier(model)] }
    }

    /// Appends hooks. Calls that start after this method returns run them.
    public func use(hooks: Hooks) {
        hasHooks.store(true, ordering: .releasing)
        self.hooks.append(hooks)
        eventHooks.append(hooks.events)
        published.withLock { $0 = nil }
    }

    /// Replaces the implementation. Hooks and event subscribers are kept.
    func replace(_ implementation: any Responder, options: ServiceOptions) {
        self.implementation = implementation
        self.options.withLock { $0 = options }
        published.withLock { $0 = nil }
    }

    /// Returns the current plan for a method.
    nonisolated func currentPlan(for method: ServiceMethod, in app: FeathersApp) async -> CallPlan {
        if let plan = compiledPlan(for: method, in: app) { return plan }
        return await plan(for: method, in: app)
    }

    /// Returns the plan for a method; nil if hooks have changed since it was compiled.
    nonisolated func compiledPlan(for method: ServiceMethod, in app: FeathersApp) -> CallPlan? {
        published.withLock { plans in plans?.version == app.hookVersion ? plans?[method] : nil }
    }

    /// Returns the event that the app emits after a method; nil if there is none, or if the service emits it itself.
    nonisolated func event(endOf method: ServiceMethod) -> EventName? {
        options.withLock { $0 }.event(endOf: method)
    }

    /// Compiles on the actor when the next call needs it, so that many registrations cost one compilation.
    func plan(for method: ServiceMethod, in app: FeathersApp) -> CallPlan { compile(for: app)[method] }

    private func compile(for app: FeathersApp) -> CallPlans {
        let (version, appHooks) = app.versionedHooks
        // Another call may have compiled the plans while this one waited for the actor.
        if let plans = published.withLock({ $0 }), plans.version == version { return plans }
        let plans = CallPlans(
            version: version, app: appHooks, service: hooks, options: options.withLock { $0 },
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
        func plan(_ method: ServiceMethod?) -> CallPlan {
            let isAllowed = options.methods.map { allowed in method.map(allowed.contains) ?? false } ?? true
            return CallPlan(
                app: app, service: service, method: method, site: isAllowed ? site : site.refusing(),
                event: method.flatMap(options.event))
        }
        self.version = version
        (find, get, create) = (plan(.find), plan(.get), plan(.create))
        (update, patch, remove) = (plan(.update), plan(.patch), plan(.remove))
        let named = app.methods.union(service.methods).union(options.methods ?? []).filter(\.isCustom)
        custom = Dictionary(uniqueKeysWithValues: named.map { ($0, plan($0)) })
        anyCustom = plan(nil)
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
