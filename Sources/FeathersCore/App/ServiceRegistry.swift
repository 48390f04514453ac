import FeathersJSON
import FeathersSupport
import Synchronization

/// The services of an app by path, in the order of registration.
final class ServiceRegistry: Sendable {
    /// A service and the app whose hooks it runs: the app itself or the sub-app it was mounted from.
    struct Entry: Sendable {
        fileprivate(set) var service: RegisteredService
        /// Nil for the app's own services, so that an app does not retain itself.
        let mountedFrom: FeathersApp?
        /// Whether the service was registered with `use`, rather than only looked up.
        let isRegistered: Bool
    }

    private struct Entries {
        /// By their paths as they are written, which need not be the same for a server if Swift takes them for equal.
        private(set) var byPath: [ExactText: Entry] = [:]
        var observers: [EventSink] = []
        /// The positions of the registered paths in their order.
        private var places: [ExactText: Int] = [:]
        private var lastPlace = 0
        /// The number of paths at which unused ones are removed, which takes constant time on average.
        private var sweepCount = ServiceRegistry.unusedLimit

        var registeredPaths: [String] { places.sorted { $0.value < $1.value }.map(\.key.text) }

        subscript(path: String) -> Entry? { byPath[ExactText(path)] }

        /// Adds a service that was looked up. Paths may contain ids, so what is neither registered nor held, subscribed
        /// to, or given hooks doesn't stay for long.
        mutating func add(_ entry: Entry, at path: String) {
            if byPath.count >= sweepCount {
                removeUnused()
                sweepCount = max(2 * byPath.count, ServiceRegistry.unusedLimit)
            }
            byPath[ExactText(path)] = entry
        }

        private mutating func removeUnused() {
            var unused: [ExactText] = []
            var index = byPath.startIndex
            while index != byPath.endIndex {
                // New references come only from here, so a service that only the registry holds cannot gain one.
                if !byPath.values[index].isRegistered, !byPath.values[index].service.isInUse,
                    isKnownUniquelyReferenced(&byPath.values[index].service)
                {
                    unused.append(byPath.keys[index])
                }
                byPath.formIndex(after: &index)
            }
            for path in unused { byPath[path] = nil }
        }

        mutating func set(_ entry: Entry, at path: String) {
            let path = ExactText(path)
            byPath[path] = entry
            guard places[path] == nil else { return }
            lastPlace += 1
            places[path] = lastPlace
        }

        mutating func remove(_ path: String) {
            let path = ExactText(path)
            byPath[path] = nil
            places[path] = nil
        }
    }

    /// The event hooks of the app.
    let eventHooks = EventHookList()
    private let app: WeakApp
    private let entries = Locked(Entries())
    /// Held while an event is delivered to its subscribers, so that one user's events precede the gap that announces
    /// the next user.
    private let handing = Locked(LockTurn())
    /// Whether there are observers. Most apps have none, so their events need not take the lock to look for them.
    private let hasObservers = Atomic(false)
    /// Whether a sink wants every event.
    let tracesEvents = Atomic(false)
    /// Whether pushed events are for the present user. See ``FeathersApp/deliversPushedEvents(_:)``.
    let deliversPushes = Atomic(true)

    /// The number of services that may stay although they were only looked up.
    private static let unusedLimit = 256

    init(app: WeakApp) { self.app = app }

    /// Returns the entry of a path. It is created if there is none, and stays as long as the service is in use.
    func entry(at path: String, orMake make: () -> RegisteredService) -> Entry {
        if let entry = entries.withLock({ $0[path] }) { return entry }
        let made = Entry(service: make(), mountedFrom: nil, isRegistered: false)
        return entries.withLock { entries in
            if let entry = entries[path] { return entry }
            entries.add(made, at: path)
            return made
        }
    }

    /// Marks a path as registered. An existing service keeps its hooks and subscribers.
    func register(at path: String, orMake make: () -> RegisteredService) -> RegisteredService {
        entries.withLock { entries in
            // A mounted service belongs to its own app, so it is left unchanged, and the path gets a new service.
            let own = entries[path].flatMap { $0.mountedFrom == nil ? $0.service : nil }
            let service = own ?? make()
            entries.set(Entry(service: service, mountedFrom: nil, isRegistered: true), at: path)
            return service
        }
    }

    /// Registers a sub-app's service at a path of this app.
    func mount(_ service: RegisteredService, of app: FeathersApp, at path: String) {
        entries.withLock { $0.set(Entry(service: service, mountedFrom: app, isRegistered: true), at: path) }
    }

    /// Removes a service; returns nil if none was registered.
    func remove(at path: String) -> Entry? {
        entries.withLock { entries in
            guard let entry = entries[path], entry.isRegistered else { return nil }
            entries.remove(path)
            return entry
        }
    }

    /// Returns the service that is registered at a path.
    func registered(at path: String) -> Entry? {
        entries.withLock { $0[path].flatMap { $0.isRegistered ? $0 : nil } }
    }

    /// Whether an app's services are mounted.
    func mounts(_ app: FeathersApp) -> Bool {
        entries.withLock { $0.byPath.values.contains { $0.mountedFrom === app } }
    }

    /// The registered services, in the order of registration.
    var registered: [(path: String, entry: Entry)] {
        entries.withLock { entries in
            entries.registeredPaths.compactMap { path in entries[path].map { (path, $0) } }
        }
    }
}

extension ServiceRegistry {
    /// Delivers a transport's events to the services. It holds the registry weakly, because the registry's app retains
    /// the transport.
    var eventSink: EventSink {
        EventSink { [weak self] events in
            self?.receive(events)
        } onGap: { [weak self] reason in
            self?.emitGap(reason)
        }
    }

    /// Delivers what one read has brought, for the user who is signed in now. Consecutive events of one path share the
    /// search for its service.
    private func receive(_ events: ArraySlice<ServiceEvent>) {
        // The user may change in the meantime, for example while hooks run.
        let sender = app.app?.currentSender
        var rest = events
        while let path = rest.first?.path {
            let end = rest.firstIndex { !$0.path.isExactly(path) } ?? rest.endIndex
            receive(rest[..<end], at: path, for: sender)
            rest = rest[end...]
        }
    }

    private func receive(_ events: ArraySlice<ServiceEvent>, at path: String, for sender: RequestSender?) {
        let service = entries.withLock { $0[path].flatMap { $0.mountedFrom == nil ? $0.service : nil } }
        deliver(events, to: service, at: path, for: sender)
        guard let template = PathTemplate(path) else { return }
        for service in services where !service.path.isExactly(path) && template.matches(service.path) {
            deliver(events, to: service, at: service.path, for: sender)
        }
    }

    /// Delivers events to the readers at a path.
    /// - Parameter path: The path under which observers receive the events. If a service receives the events of a
    ///   template, this is the service's own path.
    private func deliver(
        _ events: ArraySlice<ServiceEvent>, to service: RegisteredService?, at path: String, for sender: RequestSender?
    ) {
        service?.events.countReceived(events.count)
        if tracesEvents.load(ordering: .relaxed) { app.app?.diagnostics.trace(events) }
        let hooks = (service?.eventHooks.all ?? []) + eventHooks.all
        guard hooks.isEmpty else {
            return events.forEach { deliver($0, shapedBy: hooks, to: service, at: path, for: sender) }
        }
        observe { observer in for event in events { observer.receive(event.moved(to: path)) } }
        // Reading the stored user ends the first sender without a gap, so its events are delivered.
        hand(service, for: sender?.isFirst == true ? nil : sender) { $0.emit(events) }
    }

    private func deliver(
        _ event: ServiceEvent, shapedBy hooks: [EventHook], to service: RegisteredService?, at path: String,
        for sender: RequestSender?
    ) {
        switch ShapedEvent(event, hooks) {
        case .event(let shaped):
            observe { $0.receive(shaped.moved(to: path)) }
            hand(service, for: sender) { $0.emit(shaped) }
        case .hidden: break
        case .failed(let error):
            app.app?.diagnostics.reportHidden(event, error)
            // Although it is hidden, the event has happened: cached data is outdated, and readers have missed
            // something.
            observe { $0.receive(event.moved(to: path)) }
            let hidden = ServiceEvent(path: event.path, name: event.name, data: .null)
            hand(service, for: sender) { $0.emit(EventGap(reason: .undecodable(hidden, error))) }
        }
    }

    /// Delivers a server's events, unless the user for whom the server sent them has left.
    private func hand(
        _ service: RegisteredService?, for sender: RequestSender?, _ emit: (EventHub<ServiceEvent>) -> Void
    ) {
        guard let service else { return }
        handing.withLock { _ in
            guard deliversPushes.load(ordering: .sequentiallyConsistent), sender?.isCurrent ?? true else { return }
            emit(service.events)
        }
    }

    /// Delivers events of a call to their subscribers, unless the user who made the call is no longer signed in.
    func hand(_ events: [ServiceEvent], to hub: EventHub<ServiceEvent>, sentAs sender: RequestSender?) {
        guard let sender else { return hub.emit(events) }
        handing.withLock { _ in if sender.isCurrent { hub.emit(events) } }
    }

    /// Delivers a gap to every subscriber of every service.
    func emitGap(_ reason: EventGap.Reason, for sender: RequestSender? = nil) {
        // Waits for deliveries that have already started.
        handing.withLock { _ in }
        app.app?.diagnostics.log(.debug, .events, "gap: \(reason)", [.reason: .string("\(reason)")])
        observe { $0.receiveGap(reason) }
        for service in services { service.events.emit(EventGap(reason: reason, sender: sender)) }
    }

    func addObserver(_ observer: EventSink) {
        entries.withLock { $0.observers.append(observer) }
        hasObservers.store(true, ordering: .releasing)
    }

    /// Notifies the observers first, so that they have processed an event before a subscriber reads it.
    func observe(_ tell: (EventSink) -> Void) {
        guard hasObservers.load(ordering: .acquiring) else { return }
        for observer in entries.withLock({ $0.observers }) { tell(observer) }
    }

    /// The app's own services, looked up or registered.
    var services: [RegisteredService] {
        entries.withLock { $0.byPath.values.compactMap { $0.mountedFrom == nil ? $0.service : nil } }
    }
}

/// The path of a server's service with placeholders, such as `teams/:team/members`.
struct PathTemplate: Sendable {
    private let segments: [Substring]

    /// Returns nil for a path without placeholders.
    init?(_ path: String) {
        guard path.utf8.contains(UInt8(ascii: ":")) else { return nil }
        segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.contains(where: Self.isPlaceholder) else { return nil }
    }

    /// Returns whether a path is the template with something in the place of each placeholder.
    func matches(_ path: String) -> Bool {
        let others = path.split(separator: "/", omittingEmptySubsequences: false)
        return segments.count == others.count
            && zip(segments, others).allSatisfy {
                Self.isPlaceholder($0) ? !$1.isEmpty : $0.utf8.elementsEqual($1.utf8)
            }
    }

    private static func isPlaceholder(_ segment: Substring) -> Bool { segment.utf8.first == UInt8(ascii: ":") }
}

extension ServiceEvent {
    fileprivate func moved(to path: String) -> ServiceEvent {
        path.isExactly(self.path) ? self : ServiceEvent(path: path, name: name, data: data, weight: weight)
    }
}

extension Diagnostics {
    /// Reports events without their data.
    fileprivate func trace(_ events: ArraySlice<ServiceEvent>) {
        for event in events {
            log(.trace, .events, "\(event.path) \(event.name)", [.path: .string(event.path), "event": "\(event.name)"])
        }
    }

    /// Reports an event that is hidden because a hook has failed. Its error is reported by type only, because its
    /// description may contain the event's data.
    fileprivate func reportHidden(_ event: ServiceEvent, _ error: any Error) {
        let message = """
            An event hook has failed, so the event '\(event.name)' of service '\(event.path)' is hidden: \
            \(type(of: error))
            """
        log(.warning, .events, message, [.path: .string(event.path)])
    }
}
