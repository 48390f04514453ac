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
/// It must treat an event as the hooks of `find` treat the query and its result. It returns the event with the record
/// as `find` returns it, with the name `removed` if `find` no longer returns the record, or nil if `find` never
/// returned it. Live queries rely on this to apply events without a fetch. The function runs while the server's next
/// event waits, so it must not block.
///
/// If it throws, the event is hidden with a warning in the app's diagnostics. Live queries then fetch their results,
/// and `deliveries` have a gap. The path of an event cannot be changed.
public typealias EventHook = @Sendable (ServiceEvent) throws -> ServiceEvent?

/// The event hooks of an app or a service.
final class EventHookList: Sendable {
    private let hooks = Locked<[EventHook]>([])
    /// Most apps have none, so their events need not take the lock to look for them.
    private let isUsed = Atomic(false)

    var all: [EventHook] { isUsed.load(ordering: .acquiring) ? hooks.withLock { $0 } : [] }

    func append(_ added: [EventHook]) {
        guard !added.isEmpty else { return }
        hooks.withLock { $0 += added }
        isUsed.store(true, ordering: .releasing)
    }
}

/// The outcome of an event's hooks.
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
    /// Whether event hooks shape the events of this service, so that they show what `find` would return.
    ///
    /// Only a server's events pass through them. Events of services in this process, and of the app's own calls over a
    /// transport without events, already have the form that the hooks of those calls gave them.
    package var hasEventHooks: Bool {
        guard app.realTimeTransport != nil, !app.isPathTaken(path) else { return false }
        return !registered.eventHooks.all.isEmpty || !app.serviceRegistry.eventHooks.all.isEmpty
    }
}
