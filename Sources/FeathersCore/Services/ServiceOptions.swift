/// How an app registers a service.
public struct ServiceOptions: Sendable {
    /// The methods that may be called, custom ones included; nil allows every method the service answers.
    public var methods: Set<ServiceMethod>?

    /// The events the service emits itself, so that the app does not emit them after its methods.
    public var serviceEvents: Set<EventName>

    /// Options; the parameters are the properties of the same names.
    public init(methods: Set<ServiceMethod>? = nil, serviceEvents: Set<EventName> = []) {
        self.methods = methods
        self.serviceEvents = serviceEvents
    }

    /// Names that mean something else where hooks are registered, so no custom method may have them.
    private static let reserved: Set<String> = [
        "all", "around", "before", "after", "error", "hooks", "setup", "teardown", "publish",
    ]

    func validate(for path: String) throws {
        for method in methods ?? [] where Self.reserved.contains(method.rawValue) {
            throw FeathersError(
                .badRequest, "'\(method)' on service '\(path)' is not allowed as a custom method name", execution: .neverSent)
        }
    }
}
