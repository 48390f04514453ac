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
/// With a transport every path is a service on the server unless one is registered here; without one there are the registered ones.
public final class FeathersApp: Sendable {
    /// The way to the server, where the app has one.
    public let transport: (any Transport)?

    /// Whether calls must tell themselves who makes them: where some of them go another way than over a connection that knows.
    package let callsCarryCredentials: Bool

    let registry = ServiceRegistry()
    let gate = CallGate()
    let healthMonitor = HealthMonitor()
    private let state = Locked(State())
    private let generation = Atomic<Int>(0)

    struct State: Sendable {
        var hooks = Hooks()
        var lifecycle = LifecycleHooks()
        var phase = Phase.idle
        var settings: [ObjectIdentifier: any Sendable] = [:]
        var background = BackgroundTasks()
        /// Whether the background work reports the connection.
        var reportsConnection = false
        /// Where calls are counted; nil until somebody asks for it.
        var metrics: MetricsRecorder?
        var cachePartition = CachePartition(name: "", change: 0)
    }

    enum Phase {
        case idle, settingUp, setUp
    }

    /// An app whose unregistered services are reached through `transport`; nil for registered services only.
    public init(transport: (any Transport)? = nil) {
        self.transport = transport
        callsCarryCredentials = transport?.innermost.contains { !($0 is any RealTimeTransport) } ?? true
        if let transport = transport as? any RealTimeTransport { transport.deliver(to: registry.eventSink) }
    }

    /// Adds hooks that run around every service's own, for calls that start afterwards.
    public func addHooks(_ hooks: Hooks) {
        withState { $0.hooks.append(hooks) }
        generation.add(1, ordering: .releasing)
    }

    /// The hooks registered on the app.
    public var hooks: Hooks { withState { $0.hooks } }

    /// Grows with every registration of app hooks, so that compiled pipelines know they are old.
    var hookGeneration: Int { generation.load(ordering: .acquiring) }

    func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock(body)
    }
}
