public import FeathersCore

/// The transport that a call uses: for a whole app, a service, a method, or one method of one service.
///
/// ```swift
/// routes["reports"] = .rest
/// routes["messages", .find] = .rest
/// ```
///
/// The most specific route wins: a service's method, then the service, then the method, then ``standard``.
public struct TransportRoutes: Sendable {
    /// A transport to the server.
    public enum Route: Sendable, Hashable {
        /// Over the connection.
        case realTime
        /// Over HTTP, without the connection.
        case rest
    }

    /// How calls routed to the connection are handled while there is none.
    public enum Fallback: Sendable, Hashable {
        /// Calls wait for a connection, as they do without REST.
        case never
        /// `find`, `get` and other calls that only read are sent over REST, even if the connection is lost before the
        /// response arrives. Other calls wait.
        case reads
        /// Other calls are sent over REST too, but only if they were definitely never sent.
        case unsent
    }

    /// The route of calls without a more specific route.
    public var standard = Route.realTime

    /// How calls are handled while there is no connection.
    public var fallback = Fallback.reads

    private var ofServices: [String: Route] = [:]
    private var ofMethods: [ServiceMethod: Route] = [:]
    private var ofBoth: [String: [ServiceMethod: Route]] = [:]

    package init() {}

    /// The route of a service; nil if none is set. Slashes at both ends of the path are ignored.
    public subscript(path: String) -> Route? {
        get { ofServices[FeathersApp.stripSlashes(path)] }
        set { ofServices[FeathersApp.stripSlashes(path)] = newValue }
    }

    /// The route of a method of all services; nil if none is set.
    public subscript(method: ServiceMethod) -> Route? {
        get { ofMethods[method] }
        set { ofMethods[method] = newValue }
    }

    /// The route of one method of one service; nil if none is set.
    public subscript(path: String, method: ServiceMethod) -> Route? {
        get { ofBoth[FeathersApp.stripSlashes(path)]?[method] }
        set { ofBoth[FeathersApp.stripSlashes(path), default: [:]][method] = newValue }
    }

    /// Returns the route of a request whose path has no slashes at its ends.
    func route(of request: ServiceRequest) -> Route {
        if !ofBoth.isEmpty, let route = ofBoth[request.path]?[request.method] { return route }
        if !ofServices.isEmpty, let route = ofServices[request.path] { return route }
        if !ofMethods.isEmpty, let route = ofMethods[request.method] { return route }
        return standard
    }

    /// Whether a route leads over the connection.
    var usesConnection: Bool {
        standard == .realTime || ofServices.values.contains(.realTime) || ofMethods.values.contains(.realTime)
            || ofBoth.values.contains { $0.values.contains(.realTime) }
    }

    /// Returns whether a request routed to the connection can be sent over REST while there is none.
    func permitsFallback(_ request: ServiceRequest) -> Bool {
        switch fallback {
        case .never: false
        case .reads: request.isSafeToRepeat
        case .unsent: true
        }
    }
}
