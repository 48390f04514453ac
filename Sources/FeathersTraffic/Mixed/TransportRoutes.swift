public import FeathersCore

/// Which of two ways calls go: those of an app, of a service, of a method, or of one method of one service.
///
/// ```swift
/// routes["reports"] = .rest
/// routes["messages", .find] = .rest
/// ```
///
/// The closest says it: a service's method, then the service, then the method, then ``standard``.
public struct TransportRoutes: Sendable {
    /// A way to the server.
    public enum Way: Sendable, Hashable {
        /// Over the connection.
        case realTime
        /// Beside it, over HTTP.
        case rest
    }

    /// What becomes of calls that should go over the connection while none stands.
    public enum Fallback: Sendable, Hashable {
        /// They wait for a connection, as they do without another way.
        case never
        /// `find`, `get` and what else only reads goes over REST; also where the connection is lost before the answer comes. The others wait.
        case reads
        /// Other calls go over REST too, but only where it is certain that they were never sent.
        case unsent
    }

    /// The way of all that nothing else is said of.
    public var standard = Way.realTime

    /// What becomes of calls while no connection stands.
    public var fallback = Fallback.reads

    private var ofServices: [String: Way] = [:]
    private var ofMethods: [ServiceMethod: Way] = [:]
    private var ofBoth: [String: [ServiceMethod: Way]] = [:]

    /// Routes that name nothing: every call goes the usual way.
    public init() {}

    /// The way of a service; nil for none of its own. Slashes at both ends of the path do not count.
    public subscript(path: String) -> Way? {
        get { ofServices[FeathersApp.stripSlashes(path)] }
        set { ofServices[FeathersApp.stripSlashes(path)] = newValue }
    }

    /// The way of a method, whatever the service; nil for none of its own.
    public subscript(method: ServiceMethod) -> Way? {
        get { ofMethods[method] }
        set { ofMethods[method] = newValue }
    }

    /// The way of one method of one service; nil for none of its own.
    public subscript(path: String, method: ServiceMethod) -> Way? {
        get { ofBoth[FeathersApp.stripSlashes(path)]?[method] }
        set { ofBoth[FeathersApp.stripSlashes(path), default: [:]][method] = newValue }
    }

    /// The way of a request whose path has no slashes at its ends.
    func way(of request: ServiceRequest) -> Way {
        if !ofBoth.isEmpty, let way = ofBoth[request.path]?[request.method] { return way }
        if !ofServices.isEmpty, let way = ofServices[request.path] { return way }
        if !ofMethods.isEmpty, let way = ofMethods[request.method] { return way }
        return standard
    }

    /// Whether a request that should go over the connection may go over REST where none stands.
    func permitsFallback(_ request: ServiceRequest) -> Bool {
        switch fallback {
        case .never: false
        case .reads: request.isSafeToRepeat
        case .unsent: true
        }
    }
}
