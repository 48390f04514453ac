@_exported public import FeathersJSON
import FeathersSupport
import Synchronization

/// A Feathers application: services by path, hooks around all of them, settings, and a life cycle.
///
/// ```swift
/// let app = FeathersApp(transport: .rest(URL(string: "http://localhost:3030")!))
/// let messages = app.service("messages")
/// ```
///
/// With a transport every path is a service on the server unless one is registered here; without one there are only the registered ones.
public final class FeathersApp: Sendable {
    /// The way to the server, if the app has one.
    public let transport: (any Transport)?

    /// Whether requests must carry a token: if some of them go another way than over a connection that is signed in.
    package let callsCarryCredentials: Bool

    /// The app for what must not keep it.
    package let weakReference = WeakApp()

    let registry = ServiceRegistry()
    let gate = CallGate()
    let lifetime = AppLifetime()
    let identityStore = IdentityStore()
    let healthMonitor = HealthMonitor()
    /// Runs the calls that belong to no service: those of endpoints.
    let endpoints: Service
    private let state = Locked(State())
    private let version = Atomic<Int>(0)

    struct State: Sendable {
        var hooks = Hooks()
        var setUpHooks: [LifecycleHook] = []
        var tearDownHooks: [LifecycleHook] = []
        var phase = Phase.idle
        var settings: [ObjectIdentifier: any Sendable] = [:]
        /// Whether the background work reports the connection.
        var reportsConnection = false
        /// Counts calls; nil until ``recordMetrics()``.
        var metrics: MetricsRecorder?
    }

    enum Phase {
        case idle, settingUp, setUp
    }

    /// Creates an app whose unregistered services are reached through `transport`; nil for registered services only.
    public init(transport: (any Transport)? = nil) {
        self.transport = transport
        callsCarryCredentials = transport?.innermost.contains { !($0 is any RealTimeTransport) } ?? true
        endpoints = Service(path: "", implementation: EndpointDispatch())
        weakReference.set(self)
        if let transport = transport as? any RealTimeTransport { transport.deliver(to: registry.eventSink) }
    }

    func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock(body)
    }
}

// MARK: - Hooks and settings

extension FeathersApp {
    /// Adds hooks that run around every service's own, for calls that start afterwards.
    public func use(hooks: Hooks) {
        withState {
            $0.hooks.append(hooks)
            // With the lock held, so that a version is never newer than its hooks.
            version.add(1, ordering: .releasing)
        }
    }

    /// Installs middleware in front of the services' methods.
    package func use(_ middleware: any Middleware, for scope: HookScope = .all) {
        var hooks = Hooks()
        hooks.middleware[scope] = [middleware]
        use(hooks: hooks)
    }

    /// The hooks registered on the app.
    package var hooks: Hooks { withState { $0.hooks } }

    /// Grows with every registration of app hooks. Calls compare it with that of their plan.
    var hookVersion: Int { version.load(ordering: .acquiring) }

    var versionedHooks: (version: Int, hooks: Hooks) { withState { (hookVersion, $0.hooks) } }

    /// A setting of the app; nil until it is set.
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
    /// The service at a path.
    ///
    /// Slashes at both ends do not count. If none is registered there the service is the server's; without a transport its
    /// calls throw ``FeathersError/Code/notFound`` until one is registered.
    public func service(_ path: String) -> UntypedService {
        let path = Self.stripSlashes(path)
        let entry = registry.entry(at: path) {
            guard let transport else { return Service(path: path, implementation: MissingService(path: path)) }
            // A server that pushes events pushes those of our own calls too.
            let pushed = transport is any RealTimeTransport ? Set(EventName.standard) : []
            return Service(path: path, implementation: TransportService(own: transport), options: ServiceOptions(serviceEvents: pushed))
        }
        return UntypedService(app: entry.mountedFrom ?? self, actor: entry.service)
    }

    /// The service at a path with a model for its records; see ``TypedService/init(_:of:rootKeys:coding:)``.
    public func service<Model: Codable & Sendable>(
        _ path: String, of model: Model.Type, rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil
    ) -> TypedService<Model> {
        TypedService(service(path), rootKeys: rootKeys, coding: coding)
    }

    /// The paths of the registered services, in the order of their registration.
    public var servicePaths: [String] { registry.registered.map(\.path) }

    /// Registers a service at a path, in place of what was there.
    ///
    /// In an app that is already set up, the service's own set-up has run when this returns.
    /// - Throws: ``FeathersError/Code/badRequest`` for an empty path or a custom method with a reserved name, and what the
    ///   service's set-up throws.
    @discardableResult
    public func use(
        _ service: any ServiceProtocol, at path: String, options: ServiceOptions = ServiceOptions()
    ) async throws -> UntypedService {
        let path = Self.stripSlashes(path)
        guard !path.isEmpty else {
            throw FeathersError(.badRequest, "A service needs a path, and the given one is empty", execution: .neverSent)
        }
        try options.validate(for: path)
        if registry.registered(at: path) != nil {
            diagnostics.log(
                .warning, .calls, "The service at '\(path)' is replaced by another one; its hooks and readers stay", [.path: .string(path)])
        }
        let actor = registry.register(at: path) { Service(path: path, implementation: service, options: options) }
        await actor.replace(service, options: options)
        if isSetUp, let service = service as? any LifecycleService { try await service.setUp(in: self, at: path) }
        return UntypedService(app: self, actor: actor)
    }

    /// Registers every service of another app under a prefix. They keep running that app's hooks.
    public func use(_ subApp: FeathersApp, at prefix: String) {
        let prefix = Self.stripSlashes(prefix)
        for (path, entry) in subApp.registry.registered {
            registry.mount(entry.service, of: entry.mountedFrom ?? subApp, at: prefix.isEmpty ? path : "\(prefix)/\(path)")
        }
    }

    /// Takes a registered service out after its tear-down.
    /// - Returns: the service; nil if none was registered at this path.
    @discardableResult
    public func unuse(_ path: String) async throws -> (any ServiceProtocol)? {
        let path = Self.stripSlashes(path)
        guard let entry = registry.remove(at: path) else { return nil }
        let implementation = await entry.service.implementation
        if entry.mountedFrom == nil {
            // Those that still hold the service get an answer that says what happened.
            await entry.service.replace(MissingService(path: path), options: ServiceOptions())
            if let service = implementation as? any LifecycleService { try await service.tearDown(in: self, at: path) }
        }
        return implementation
    }

    /// Receives the events that the transport delivers and services emit by themselves, of every path and before any reader, and the gaps
    /// between them. The events that end this app's own calls are not among them.
    package func observeEvents(with observer: EventSink) { registry.addObserver(observer) }

    /// Runs a request of no service through the app's hooks.
    package func respond(to request: ServiceRequest, by implementation: any ServiceProtocol) async throws -> ServiceResponse {
        var request = request
        request.params[EndpointImplementation.self] = implementation
        return try await UntypedService(app: self, actor: endpoints).execute(request)
    }

    package static func stripSlashes(_ path: String) -> String {
        var path = Substring(path)
        while path.first == "/" { path.removeFirst() }
        while path.last == "/" { path.removeLast() }
        return String(path)
    }
}

// MARK: - Set-up and tear-down

/// A function that runs around an app's set-up or tear-down; it calls `next` to go on.
public typealias LifecycleHook = @Sendable (FeathersApp, _ next: () async throws -> Void) async throws -> Void

extension FeathersApp {
    /// Adds hooks that run around the app's own set-up and tear-down; the first registered is the outermost.
    public func use(setUp: [LifecycleHook] = [], tearDown: [LifecycleHook] = []) {
        withState {
            $0.setUpHooks += setUp
            $0.tearDownHooks += tearDown
        }
    }

    /// Sets up the registered services in the order of their registration; does nothing in an app that is set up.
    /// - Throws: what a service's set-up or a hook throws; the app then counts as not set up.
    public func setUp() async throws {
        let hooks: [LifecycleHook]? = withState {
            guard $0.phase == .idle else { return nil }
            $0.phase = .settingUp
            return $0.setUpHooks
        }
        guard let hooks else { return }
        defer { noteHealth() }
        do {
            try await run(hooks[...]) { service, path in try await service.setUp(in: self, at: path) }
            withState { $0.phase = .setUp }
        } catch {
            withState { $0.phase = .idle }
            throw error
        }
    }

    /// Tears down the registered services in the order of their registration; does nothing in an app that is not set up.
    /// - Throws: what a service's tear-down or a hook throws; the app then counts as torn down, and the services after it are not asked.
    public func tearDown() async throws {
        let hooks: [LifecycleHook]? = withState {
            guard $0.phase == .setUp else { return nil }
            $0.phase = .idle
            return $0.tearDownHooks
        }
        guard let hooks else { return }
        defer { noteHealth() }
        try await run(hooks[...]) { service, path in try await service.tearDown(in: self, at: path) }
    }

    /// Whether a service that is registered now must be set up at once.
    private var isSetUp: Bool { withState { $0.phase == .setUp } }

    private func run(_ hooks: ArraySlice<LifecycleHook>, _ body: (any LifecycleService, String) async throws -> Void) async throws {
        if let hook = hooks.first {
            return try await hook(self) { try await run(hooks.dropFirst(), body) }
        }
        // A service may register others, which then have their turn too, or take others out.
        var done: Set<String> = []
        while case let paths = servicePaths.filter({ !done.contains($0) }), !paths.isEmpty {
            for path in paths {
                done.insert(path)
                guard let entry = registry.registered(at: path), entry.mountedFrom == nil else { continue }
                if let service = await entry.service.implementation as? any LifecycleService { try await body(service, path) }
            }
        }
    }
}

/// Answers the calls of endpoints, each with the implementation it brings along: all of them share one plan.
private struct EndpointDispatch: ServiceProtocol {
    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        guard let implementation = request.params[EndpointImplementation.self] else { throw FeathersError.unsupported(request.method) }
        return try await implementation.respond(to: request)
    }
}

private enum EndpointImplementation: ParamsKey { typealias Value = any ServiceProtocol }
