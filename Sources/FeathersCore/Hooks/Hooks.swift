/// A set of hooks to register on a service or an app.
///
/// ```swift
/// await messages.use(hooks: Hooks(before: [.create: [requireText]], error: [report]))
/// ```
public struct Hooks: Sendable {
    /// Hooks around everything else on their level. The first registered is the outermost.
    package var around: HookMap<AroundHook>
    /// Hooks before the method: those of all methods first, in the order of registration.
    package var before: HookMap<Hook>
    /// Hooks after the method: those of all methods first, in the order of registration.
    package var after: HookMap<Hook>
    /// Hooks after a failure: those of the method first, in the order of registration.
    package var error: HookMap<Hook>
    /// Hooks of the events that a server sends, in the order of registration.
    package var events: [EventHook]
    /// Around hooks that run outside all others on their level; see ``Hooks/timeout(_:for:)``.
    var deadlines: HookMap<AroundHook> = [:]
    /// Middleware between the hooks and the method.
    package var middleware: HookMap<any Middleware> = [:]
    /// The sinks that receive reports of calls; see ``Hooks/logging(levels:redaction:verbosity:to:)``.
    var diagnostics = Diagnostics()

    /// Creates a set of hooks. An array literal applies to all methods; a dictionary literal names methods.
    /// - Parameters:
    ///   - around: Hooks around everything else on their level.
    ///   - before: Hooks before the method.
    ///   - after: Hooks after the method.
    ///   - error: Hooks after a failure.
    ///   - events: Hooks for the events that the server sends. They run before anything in the app sees an event, those
    ///     of the service before those of the app, as with after hooks. They must treat an event as the other hooks
    ///     treat a result of `find`, so that live queries can apply events without a fetch. See ``EventHook``.
    public init(
        around: HookMap<AroundHook> = [:], before: HookMap<Hook> = [:], after: HookMap<Hook> = [:],
        error: HookMap<Hook> = [:], events: [EventHook] = []
    ) {
        self.around = around
        self.before = before
        self.after = after
        self.error = error
        self.events = events
    }

    /// Whether there are no hooks, no middleware and no sinks.
    package var isEmpty: Bool {
        around.isEmpty && before.isEmpty && after.isEmpty && error.isEmpty && deadlines.isEmpty && middleware.isEmpty
            && diagnostics.isEmpty && events.isEmpty
    }

    /// The methods that have hooks registered by name.
    var methods: Set<ServiceMethod> {
        let scopes = [around.scopes, before.scopes, after.scopes, error.scopes, deadlines.scopes, middleware.scopes]
            .joined()
        return Set(scopes.compactMap { if case .method(let method) = $0 { method } else { nil } })
    }

    /// Appends other hooks.
    mutating func append(_ other: Hooks) {
        around.append(other.around)
        before.append(other.before)
        after.append(other.after)
        error.append(other.error)
        events += other.events
        deadlines.append(other.deadlines)
        middleware.append(other.middleware)
        diagnostics.append(other.diagnostics)
    }
}

/// Hooks of one type, grouped by method.
///
/// A dictionary literal names methods; an array literal applies to all of them:
///
/// ```swift
/// let before: HookMap<Hook> = [.create: [requireText], .all: [log]]
/// let error: HookMap<Hook> = [report]
/// ```
public struct HookMap<Function: Sendable>: Sendable {
    private var functions: [HookScope: [Function]] = [:]

    package var isEmpty: Bool { functions.isEmpty }

    /// The hooks of a scope, in the order of registration.
    package subscript(scope: HookScope) -> [Function] {
        get { functions[scope] ?? [] }
        set { functions[scope] = newValue.isEmpty ? nil : newValue }
    }

    /// The scopes that have hooks.
    package var scopes: Set<HookScope> { Set(functions.keys) }

    /// Appends another map's hooks.
    mutating func append(_ other: HookMap) {
        // In place, so that adding a hook does not copy the existing ones.
        for (scope, added) in other.functions { functions[scope, default: []] += added }
    }
}

extension HookMap: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HookScope, [Function])...) {
        for (scope, hooks) in elements { self[scope] += hooks }
    }
}

extension HookMap: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Function...) { self[.all] = elements }
}

/// The calls that a hook runs for: those of every method or those of one.
public enum HookScope: Hashable, Sendable {
    case all
    case method(ServiceMethod)

    public static let find = HookScope.method(.find)
    public static let get = HookScope.method(.get)
    public static let create = HookScope.method(.create)
    public static let update = HookScope.method(.update)
    public static let patch = HookScope.method(.patch)
    public static let remove = HookScope.method(.remove)
}

extension HookScope: ExpressibleByStringLiteral {
    /// Creates the scope of a custom method.
    public init(stringLiteral value: String) {
        self = .method(ServiceMethod(rawValue: value))
    }
}
