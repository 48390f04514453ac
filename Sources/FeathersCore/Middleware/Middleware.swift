/// A stage between the hooks and the method of a service, such as the cache, the sign-in gate or a limiter.
///
/// Middleware runs inside all hooks, in a fixed order that does not depend on the order of installation. It is compiled
/// into a service's plan as a decorator of the next stage, so services without middleware have no overhead.
package protocol Middleware: Sendable {
    /// The position of the middleware, from the outermost to the innermost.
    var order: MiddlewareOrder { get }

    /// Wraps the next stage; returns nil if the middleware does not apply to the site.
    func around(_ next: any Responder, at site: MiddlewareSite) -> (any Responder)?
}

/// The positions of middleware, from the outermost to the innermost.
package enum MiddlewareOrder: Int, Sendable, CaseIterable {
    /// Gives records the names that the server knows, before anything reads the request.
    case names
    /// Outside the sign-in gate: entries cached for the stored user can be read without a server.
    case cache
    /// From here on, requests have a sender.
    case authentication
    /// Sends one request for identical reads in flight.
    case coalescing
    /// Counts coalesced requests once.
    case limiting
}

/// The service and app that a middleware is installed for.
package struct MiddlewareSite: Sendable {
    /// The path of the service; nil for the app's endpoints.
    package let path: String?
    /// The innermost stage, which produces the response.
    package private(set) var implementation: any Responder
    /// Whether the middleware is installed for the whole app, rather than for this service.
    package private(set) var isWholeApp = false
    private let weakApp: WeakApp

    init(path: String?, implementation: any Responder, app: FeathersApp) {
        self.path = path
        self.implementation = implementation
        weakApp = app.weakReference
    }

    /// The app. Middleware must not retain it, because the app retains the middleware.
    package var app: FeathersApp? { weakApp.app }

    /// Returns the user that a request is sent as.
    package func sender(of request: ServiceRequest) -> RequestSender? { request.sender ?? app?.currentSender }

    /// Whether calls leave the process: those of endpoints, and of services on a server.
    package var isRemote: Bool { path == nil || implementation is RemoteResponder }

    /// Returns the same site for a method that the service's options exclude.
    func refusing() -> MiddlewareSite {
        var site = self
        site.implementation = RefusingResponder()
        return site
    }

    /// Wraps the implementation in the middleware of one method.
    func wrapped(app: Hooks, service: Hooks, for method: ServiceMethod) -> any Responder {
        var implementation = implementation
        if let remote = implementation as? RemoteResponder, let app = weakApp.app {
            implementation = SendingResponder(
                remote: remote, gate: app.callGate, app: weakApp, recordsSender: app.recordsSender,
                reach: remote.isOwn && app.realTimeTransport == nil ? app.healthMonitor.requests : nil)
        }
        if app.middleware.isEmpty && service.middleware.isEmpty { return implementation }
        let named = HookScope.method(method)
        var wholeApp = self
        wholeApp.isWholeApp = true
        let installed = [(app, wholeApp), (service, self)].flatMap { hooks, site in
            (hooks.middleware[.all] + hooks.middleware[named]).map { (middleware: $0, site: site) }
        }
        let inOrder = MiddlewareOrder.allCases.flatMap { order in installed.filter { $0.middleware.order == order } }
        return inOrder.reversed().reduce(implementation) { $1.middleware.around($0, at: $1.site) ?? $0 }
    }
}

/// A weak reference to an app.
package final class WeakApp: Sendable {
    // Safe despite the keyword: written once, before the reference is shared; loads of weak references are atomic.
    private nonisolated(unsafe) weak var reference: FeathersApp?

    init() {}

    func set(_ app: FeathersApp) { reference = app }

    package var app: FeathersApp? { reference }
}
