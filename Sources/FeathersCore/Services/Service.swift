/// A service of an app: Feathers' six methods, custom ones, hooks and events.
///
/// ```swift
/// let messages = app.service("messages")
/// let message = try await messages.create(["text": "Hi"])
/// ```
///
/// The same for local services and for those on a server. Calls run off the actor and beside each other: isolation orders
/// the registration of hooks and nothing else. Every method throws ``FeathersError``, `CancellationError`, or what your own hooks throw.
public actor Service {
    /// The path without leading and trailing slashes.
    public nonisolated let path: String

    /// The app the service belongs to.
    public nonisolated let app: FeathersApp

    nonisolated let registration: ServiceRegistration

    init(app: FeathersApp, registration: ServiceRegistration) {
        self.path = registration.path
        self.app = app
        self.registration = registration
    }

    /// Adds hooks behind the present ones; calls that start afterwards run them.
    public func addHooks(_ hooks: Hooks) {
        registration.addHooks(hooks)
    }

    /// The hooks registered on this service.
    public nonisolated var hooks: Hooks { registration.hooks }
}
