/// Which calls a hook runs for: those of every method, or of one.
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
    /// A custom method's name.
    public init(stringLiteral value: String) {
        self = .method(ServiceMethod(rawValue: value))
    }
}
