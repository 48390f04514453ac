/// Something that stands between the hooks and the method of a service: a cache, the sign-in gate, a limit.
///
/// Middleware runs inside all hooks, in a fixed order whatever the order of installation. It is compiled into a service's plan, as a decorator of
/// the next stage: where none is installed, nothing is paid for it.
package protocol Middleware: Sendable {
    /// Its place, from the outside in.
    var order: MiddlewareOrder { get }

    /// Wraps the next stage; nil if this middleware has nothing to do at this site.
    func around(_ next: any ServiceProtocol, at site: MiddlewareSite) -> (any ServiceProtocol)?
}

/// The places of middleware, from the outside in.
package enum MiddlewareOrder: Int, Sendable, CaseIterable {
    /// Outside the sign-in gate: what is kept for the stored user can be read without a server.
    case cache
    /// Inside here, requests know whom they are sent as.
    case authentication
    /// One request for identical reads in flight.
    case coalescing
    /// Several requests in one. What is coalesced is batched once.
    case batching
    /// A batch counts as one request.
    case limiting
}

/// Where a middleware stands: in front of which service of which app.
package struct MiddlewareSite: Sendable {
    /// The path of the service; nil for the app's endpoints.
    package let path: String?
    /// What answers in the end.
    package private(set) var implementation: any ServiceProtocol
    private let weakApp: WeakApp

    init(path: String?, implementation: any ServiceProtocol, app: FeathersApp) {
        self.path = path
        self.implementation = implementation
        weakApp = app.weakReference
    }

    /// The app. A middleware must not keep it: the app keeps the middleware.
    package var app: FeathersApp? { weakApp.app }

    /// Whom a request is sent as.
    package func sender(of request: ServiceRequest) -> RequestSender? { request.sender ?? app?.currentSender }

    /// The same site for a method that the service's options leave out.
    func refusing() -> MiddlewareSite {
        var site = self
        site.implementation = RefusingService()
        return site
    }

    /// The implementation inside the middleware of one method.
    func wrapped(app: Hooks, service: Hooks, for method: ServiceMethod) -> any ServiceProtocol {
        var implementation = implementation
        if let service = implementation as? TransportService, let app = weakApp.app {
            implementation = SendingService(transport: service.transport, gate: app.gate)
        }
        if app.middleware.isEmpty && service.middleware.isEmpty { return implementation }
        let named = HookScope.method(method)
        let installed = [app, service].flatMap { $0.middleware[.all] + $0.middleware[named] }
        let inOrder = MiddlewareOrder.allCases.flatMap { order in installed.filter { $0.order == order } }
        return inOrder.reversed().reduce(implementation) { $1.around($0, at: self) ?? $0 }
    }
}

/// An app that is not kept by what knows it.
package final class WeakApp: Sendable {
    // Unsafe only in name: written once, before the reference is handed out; loads of weak references are atomic.
    private nonisolated(unsafe) weak var reference: FeathersApp?

    init() {}

    func set(_ app: FeathersApp) { reference = app }

    package var app: FeathersApp? { reference }
}
