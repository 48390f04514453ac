@_exported public import FeathersJSON
import FeathersSupport
import Synchronization

/// A Feathers application with services, hooks, settings and a life cycle.
///
/// ```swift
/// let app = FeathersApp(transport: .rest(URL(string: "http://localhost:3030")!))
/// let messages = app.service("messages")
/// ```
///
/// With a transport, every path without a registered service refers to a service on the server. Without one, only
/// registered services exist.
///
/// ## Topics
///
/// ### Services
/// - ``service(_:)-6rcwn``
/// - ``service(_:of:rootKeys:coding:)``
/// - ``service(_:)-95qgo``
/// - ``use(_:at:options:)-192z8``
/// - ``use(_:at:options:)-26ajx``
/// - ``use(_:at:options:)-85dfx``
/// - ``use(_:at:)``
/// - ``unuse(_:)``
/// - ``servicePaths``
///
/// ### Hooks and settings
/// - ``use(hooks:)``
/// - ``configure(_:)``
/// - ``subscript(_:)``
/// - ``coding``
/// - ``harmlessHeaders``
///
/// ### Users
/// - ``use(authentication:)``
/// - ``authenticate(_:)``
/// - ``reauthenticate(force:)``
/// - ``reauthenticate(or:)``
/// - ``logOut()``
/// - ``authentication``
/// - ``authenticationUpdates()``
/// - ``identity``
/// - ``identityUpdates()``
/// - ``setIdentity(_:user:)``
/// - ``withToken(_:_:)``
/// - ``asOwnUser(_:)``
///
/// ### Connection and lifetime
/// - ``run()``
/// - ``run(until:shutDownAfter:shutDownWithin:)``
/// - ``connect()``
/// - ``disconnect()``
/// - ``connectionStatus``
/// - ``connectionStatusUpdates()``
/// - ``use(backgroundWork:)``
/// - ``shutDown(within:)``
/// - ``beginShutdown(after:within:)``
///
/// ### Setup and teardown
/// - ``use(setUp:tearDown:)``
///
/// ### Local data
/// - ``use(cache:)``
/// - ``use(outbox:)``
/// - ``use(localStore:_:)``
/// - ``version(of:by:)``
/// - ``outbox``
/// - ``localStore``
///
/// ### Endpoints
/// - ``request(_:over:params:)``
/// - ``response(to:over:params:)``
/// - ``transfer(_:over:params:progress:)``
/// - ``eventSource(_:as:named:query:headers:lastEventID:over:)``
/// - ``endpointTransport``
///
/// ### Observing
/// - ``health``
/// - ``healthUpdates()``
/// - ``metrics``
/// - ``recordMetrics()``
/// - ``use(diagnostics:levels:redaction:verbosity:)``
/// - ``withTrace(_:_:)``
/// - ``diagnostics``
/// - ``reportConnectionChanges()``
public final class FeathersApp: Sendable {
    /// The transport to the server, if the app has one.
    public let transport: (any Transport)?

    /// Whether requests must carry a token, because some of them travel with header fields rather than over a signed-in
    /// connection.
    package let callsCarryCredentials: Bool

    /// A weak reference to the app, for objects that must not retain it.
    package let weakReference = WeakApp()

    let serviceRegistry: ServiceRegistry
    let callGate = CallGate()
    let appLifetime = AppLifetime()
    let identityStore = IdentityStore()
    let healthMonitor: HealthMonitor
    let circuitCounts = CircuitCounts()
    /// The number of calls that wait for a turn.
    private let waitingForTurns = Atomic<Int>(0)
    /// The service that runs calls without a service path: those of endpoints.
    let endpointCalls: RegisteredService
    private let lockedState = Locked(State())
    private let version = Atomic<Int>(0)
    /// Whether calls need a token. See ``requireToken()``.
    let tokenRequirement = Atomic(false)

    struct State: Sendable {
        var hooks = Hooks()
        var setUpHooks: [LifecycleHook] = []
        var tearDownHooks: [LifecycleHook] = []
        var phase = Phase.idle
        var settings: [ObjectIdentifier: any Sendable] = [:]
        /// Whether background work reports the connection.
        var reportsConnection = false
        /// The recorder that counts calls; nil until ``recordMetrics()``.
        var metrics: MetricsRecorder?
    }

    enum Phase {
        case idle, settingUp, setUp
    }

    /// The number of calls that wait for a turn of `Hooks.limiting`.
    var callsWaitingForTurns: Int { waitingForTurns.load(ordering: .relaxed) }

    /// Counts calls that begin or end to wait for a turn.
    package func countWaitingForTurns(_ change: Int) { waitingForTurns.add(change, ordering: .relaxed) }

    /// Creates an app. Unregistered services are reached through `transport`; with nil, only registered services exist.
    public init(transport: (any Transport)? = nil) {
        self.transport = transport
        healthMonitor = HealthMonitor(of: transport)
        serviceRegistry = ServiceRegistry(app: weakReference)
        callsCarryCredentials = transport?.innermost.contains { !($0 is any RealTimeTransport) } ?? true
        endpointCalls = RegisteredService(path: "", implementation: EndpointDispatch(app: weakReference))
        weakReference.set(self)
        healthMonitor.requests.add(weakReference)
        if let transport = transport as? any RealTimeTransport { transport.deliver(to: serviceRegistry.eventSink) }
    }

    func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try lockedState.withLock(body)
    }
}

// MARK: - Hooks and settings

extension FeathersApp {
    /// Adds hooks that run around the hooks of every service, for calls that start afterwards.
    public func use(hooks: Hooks) {
        serviceRegistry.eventHooks.append(hooks.events)
        withState {
            $0.hooks.append(hooks)
            // Inside the lock, so that a version is never newer than its hooks.
            version.add(1, ordering: .releasing)
        }
    }

    /// Installs middleware in front of the services' methods.
    package func use(_ middleware: any Middleware, for scope: HookScope = .all) {
        var hooks = Hooks()
        hooks.middleware[scope] = [middleware]
        use(hooks: hooks)
    }

    /// The hooks registered on the app. Users look for `hooks`, as in FeathersJS, where they need ``use(hooks:)``.
    package var appHooks: Hooks { withState { $0.hooks } }

    /// A version that increases when app hooks are registered. Calls compare it with the version of their plan.
    var hookVersion: Int { version.load(ordering: .acquiring) }

    var versionedHooks: (version: Int, hooks: Hooks) { withState { (hookVersion, $0.hooks) } }

    /// A setting of the app; nil if it is not set.
    public subscript<Key: AppSetting>(key: Key.Type) -> Key.Value? {
        get { withState { $0.settings[ObjectIdentifier(key)] } as? Key.Value }
        set { withState { $0.settings[ObjectIdentifier(key)] = newValue } }
    }

    /// Runs a plugin: a function that registers services, hooks and settings.
    public func configure(_ plugin: (FeathersApp) async throws -> Void) async rethrows {
        try await plugin(self)
    }
}

/// The key of a typed setting of an app.
///
/// ```swift
/// enum PageSize: AppSetting { typealias Value = Int }
/// app[PageSize.self] = 20
/// ```
public protocol AppSetting {
    /// The type of the setting.
    associatedtype Value: Sendable
}

// MARK: - Services

extension FeathersApp {
    /// Returns the service at a path.
    ///
    /// Leading and trailing slashes are ignored. If no service is registered there, it is the server's. Without a
    /// transport, its calls throw ``FeathersError/Code/notFound`` until one is registered.
    public func service(_ path: String) -> Service<JSONValue> {
        let path = Self.stripSlashes(path)
        let entry = serviceRegistry.entry(at: path) {
            guard let transport else {
                return RegisteredService(path: path, implementation: MissingService(path: path))
            }
            // A server that pushes events also pushes those of this app's calls.
            let pushed = transport is any RealTimeTransport ? Set(EventName.standard) : []
            return RegisteredService(
                path: path, implementation: RemoteResponder(transport: transport, isOwn: true),
                options: ServiceOptions(serviceEvents: pushed))
        }
        return Service(app: entry.mountedFrom ?? self, registered: entry.service)
    }

    /// Returns the service at a path with a model for its records; see ``Service/of(_:rootKeys:coding:)``.
    public func service<Model: Codable & Sendable>(
        _ path: String, of model: Model.Type, rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil
    ) -> Service<Model> {
        service(path).of(model, rootKeys: rootKeys, coding: coding)
    }

    /// The paths of the registered services, in the order of their registration.
    public var servicePaths: [String] { serviceRegistry.registered.map(\.path) }

    /// Registers a service at a path, replacing any previous service.
    ///
    /// If the app is already set up, the service's own setup has run when this method returns.
    /// - Throws: ``FeathersError/Code/badRequest`` for an empty path or a custom method with a reserved name, and the
    ///   errors of the service's setup.
    @discardableResult
    public func use(
        _ service: any ServiceProtocol, at path: String, options: ServiceOptions = ServiceOptions()
    ) async throws -> Service<JSONValue> {
        try await addResponder(LocalResponder(service: service), at: path, options: options)
    }

    /// Registers the service of a server that another transport reaches, replacing any previous service.
    ///
    /// Requests carry this service's path. The app's token is sent only if the transport connects to the app's own
    /// server or to one of its authentication's `trustedOrigins`.
    /// - Throws: ``FeathersError/Code/badRequest`` for an empty path or a custom method with a reserved name.
    @discardableResult
    public func use(
        _ transport: any Transport, at path: String, options: ServiceOptions = ServiceOptions()
    ) async throws -> Service<JSONValue> {
        try await addResponder(RemoteResponder(transport: transport, isOwn: false), at: path, options: options)
    }

    func addResponder(_ responder: any Responder, at path: String, options: ServiceOptions) async throws -> Service<
        JSONValue
    > {
        let path = Self.stripSlashes(path)
        guard !path.isEmpty else {
            throw FeathersError(.badRequest, "A service cannot be registered: its path is empty", execution: .neverSent)
        }
        try options.validate(for: path)
        if serviceRegistry.registered(at: path) != nil {
            diagnostics.log(
                .warning, .calls,
                """
                A second service is registered at '\(path)' and replaces the first one, whose hooks and subscribers it \
                takes over. To replace a service without this warning, call 'unuse' first
                """, [.path: .string(path)])
        }
        let registered = serviceRegistry.register(at: path) {
            RegisteredService(path: path, implementation: responder, options: options)
        }
        await registered.replace(responder, options: options)
        if servicesAreSetUp, let service = responder.actor as? any LifecycleService {
            try await service.setUp(in: self, at: path)
        }
        return Service(app: self, registered: registered)
    }

    /// Registers every service of another app under a prefix. The services keep running that app's hooks.
    public func use(_ subApp: FeathersApp, at prefix: String) {
        let prefix = Self.stripSlashes(prefix)
        for (path, entry) in subApp.serviceRegistry.registered {
            serviceRegistry.mount(
                entry.service, of: entry.mountedFrom ?? subApp, at: prefix.isEmpty ? path : "\(prefix)/\(path)")
            if tokenIsRequired { (entry.mountedFrom ?? subApp).requireToken() }
        }
    }

    /// Removes a registered service after tearing it down.
    /// - Returns: The service; nil if none was registered at the path, or if a transport was.
    @discardableResult
    public func unuse(_ path: String) async throws -> (any Actor)? {
        let path = Self.stripSlashes(path)
        guard let entry = serviceRegistry.remove(at: path) else { return nil }
        let service = await entry.service.implementation.actor
        if entry.mountedFrom == nil {
            // Existing references to the service now get an error that explains what happened.
            await entry.service.replace(MissingService(path: path), options: ServiceOptions())
            if let service = service as? any LifecycleService { try await service.tearDown(in: self, at: path) }
        }
        return service
    }

    /// Adds an observer of the events that the transport delivers and services emit themselves, on every path and ahead
    /// of all subscribers, and of the gaps between them. Events that result from this app's own calls are not included.
    package func observeEvents(with observer: EventSink) { serviceRegistry.addObserver(observer) }

    /// Whether a service is registered at a path.
    package func isPathTaken(_ path: String) -> Bool { serviceRegistry.registered(at: path) != nil }

    /// Runs a request without a service path through the app's hooks.
    @concurrent
    package func respond(to request: ServiceRequest, by implementation: any Responder) async throws -> ServiceResponse {
        var request = request
        request.params[EndpointImplementation.self] = implementation
        return try await Service<JSONValue>(app: self, registered: endpointCalls).executeCall(request)
    }

    package static func stripSlashes(_ path: String) -> String {
        // Most paths have no slashes at their ends, and this runs for every event of an event stream.
        guard path.utf8.first == UInt8(ascii: "/") || path.utf8.last == UInt8(ascii: "/") else { return path }
        var path = Substring(path)
        while path.first == "/" { path.removeFirst() }
        while path.last == "/" { path.removeLast() }
        return String(path)
    }
}

/// The service behind all endpoints, which share one plan. Each call brings its own implementation.
private struct EndpointDispatch: Responder {
    let app: WeakApp

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        guard let implementation = request.params[EndpointImplementation.self] else {
            throw FeathersError.unsupported(request.method)
        }
        var request = request
        if app.app?.recordsSender == true { request.recordSender(of: app.app, whenSent: true) }
        try request.checkSender()
        try request.addTokenField(app.app, mayCarry: request.params.carriesCredentials)
        DeadlineScope.callReachedService()
        return try await implementation.respond(to: request)
    }
}

private enum EndpointImplementation: ParamsKey { typealias Value = any Responder }
