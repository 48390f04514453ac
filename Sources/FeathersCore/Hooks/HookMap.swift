/// Hooks of one type by the methods they run for.
///
/// A dictionary literal names methods, an array literal means all of them:
///
/// ```swift
/// let before: HookMap<Hook> = [.create: [requireText], .all: [log]]
/// let error: HookMap<Hook> = [report]
/// ```
public struct HookMap<Function: Sendable>: Sendable {
    private var functions: [HookScope: [Function]]

    /// A map without hooks.
    public init() {
        functions = [:]
    }

    /// Whether there are no hooks.
    public var isEmpty: Bool { functions.isEmpty }

    /// The hooks of a scope, in the order they were registered.
    public subscript(scope: HookScope) -> [Function] {
        get { functions[scope] ?? [] }
        set { functions[scope] = newValue.isEmpty ? nil : newValue }
    }

    /// The scopes that have hooks.
    public var scopes: Set<HookScope> { Set(functions.keys) }

    /// Adds another map's hooks behind the present ones.
    public mutating func append(_ other: HookMap) {
        // In place: put together anew, the present ones would be paid for with every hook that comes.
        for (scope, added) in other.functions { functions[scope, default: []] += added }
    }
}

extension HookMap: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (HookScope, [Function])...) {
        functions = [:]
        for (scope, hooks) in elements { self[scope] += hooks }
    }
}

extension HookMap: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Function...) {
        functions = [:]
        self[.all] = elements
    }
}
