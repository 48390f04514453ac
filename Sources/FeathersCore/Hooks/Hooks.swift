/// A set of hooks to register on a service or an app.
///
/// ```swift
/// await messages.addHooks(Hooks(before: [.create: [requireText]], error: [report]))
/// ```
public struct Hooks: Sendable {
    /// Run around everything else of their level; the first registered is the outermost.
    public var around: HookMap<AroundHook>
    /// Run before the method, those of all methods first, in the order of registration.
    public var before: HookMap<Hook>
    /// Run after the method, those of all methods first, in the order of registration.
    public var after: HookMap<Hook>
    /// Run after a failure, those of the method first, in the order of registration.
    public var error: HookMap<Hook>
    /// How long the calls may take; see ``Hooks/timeout(_:for:clock:)``.
    var deadlines: HookMap<Deadline>
    /// What is done to the requests where they meet the method, inside of all hooks.
    package var stages: HookMap<any RequestStage>
    /// Whether an around hook is sure to look at results, so that these had better be trees from the start; after hooks are.
    package var looksAtResults = false
    /// Who hears of the calls; see ``Hooks/logging(levels:redaction:verbosity:to:)``.
    var diagnostics = Diagnostics()

    /// Hooks of any types; an array literal means all methods, a dictionary literal names them.
    public init(
        around: HookMap<AroundHook> = HookMap(),
        before: HookMap<Hook> = HookMap(),
        after: HookMap<Hook> = HookMap(),
        error: HookMap<Hook> = HookMap()
    ) {
        self.around = around
        self.before = before
        self.after = after
        self.error = error
        self.deadlines = HookMap()
        self.stages = HookMap()
    }

    /// Whether there are no hooks, nor anything else that is done to a call.
    public var isEmpty: Bool {
        around.isEmpty && before.isEmpty && after.isEmpty && error.isEmpty && deadlines.isEmpty && stages.isEmpty
            && diagnostics.isEmpty
    }

    /// Whether any of the hooks runs for a method.
    func concern(_ method: ServiceMethod) -> Bool {
        let scopes = around.scopes.union(before.scopes).union(after.scopes).union(error.scopes).union(deadlines.scopes)
        return scopes.contains(.all) || scopes.contains(.method(method))
    }

    /// Adds other hooks behind the present ones.
    public mutating func append(_ other: Hooks) {
        around.append(other.around)
        before.append(other.before)
        after.append(other.after)
        error.append(other.error)
        deadlines.append(other.deadlines)
        stages.append(other.stages)
        looksAtResults = looksAtResults || other.looksAtResults
        diagnostics.append(other.diagnostics)
    }
}
