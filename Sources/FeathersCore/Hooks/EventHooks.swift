import FeathersSupport
import Synchronization

/// A function that returns a server's event as this app's readers should see it, or nil to hide it.
///
/// ```swift
/// let decryptEvent: EventHook = { event in
///     var event = event
///     event.data["text"] = try decrypt(event.data["text"])
///     return event
/// }
/// ```
///
/// It does to an event what the hooks of `find` do to the query and its result: what it returns is the record as
/// `find` returns it, with the name `removed` if `find` does not return it any more, and nil if it never has. Live
/// queries rely on that, and apply the events without a fetch. It runs while the server's next event waits, so it must
/// not block.
///
/// If it throws, the event is hidden with a warning in the app's diagnostics. Live queries then fetch their results,
/// and `deliveries` have a gap. The path of an event cannot be changed.
public typealias EventHook = @Sendable (ServiceEvent) throws -> ServiceEvent?

/// The event hooks of an app or a service.
final class EventHookList: Sendable {
    private let hooks = Locked<[EventHook]>([])
    /// Most apps have none, and then an event need not take the lock to find them.
    private let isUsed = Atomic(false)

    var all: [EventHook] { isUsed.load(ordering: .acquiring) ? hooks.withLock { $0 } : [] }

    func append(_ added: [EventHook]) {
        guard !added.isEmpty else { return }
        hooks.withLock { $0 += added }
        isUsed.store(true, ordering: .releasing)
    }
}

/// What event hooks have made of an event.
enum ShapedEvent: Sendable {
    case event(ServiceEvent)
    case hidden
    case failed(any Error)

    init(_ event: ServiceEvent, _ hooks: [EventHook]) {
        var shaped = event
        do {
            for hook in hooks {
                guard let next = try hook(shaped) else {
                    self = .hidden
                    return
                }
                shaped = ServiceEvent(path: event.path, name: next.name, data: next.data, weight: event.weight)
            }
            self = .event(shaped)
        } catch {
            self = .failed(error)
        }
    }
}

extension Service {
    /// Whether hooks shape the events of this service, so that these say what `find` would return.
    ///
    /// Only a server's events pass them. Those of services in this process, and of the app's own calls over a transport
    /// without events, are what the hooks of those calls have made of them.
    package var hasEventHooks: Bool {
        guard app.realTimeTransport != nil, !app.isRegistered(path) else { return false }
        return !registered.eventHooks.all.isEmpty || !app.registry.eventHooks.all.isEmpty
    }
}
