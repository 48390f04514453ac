import FeathersSupport
import Foundation

/// The services of an app by path, in the order they were registered.
final class ServiceRegistry: Sendable {
    /// A service and the app whose hooks it runs: the app itself, or the sub-app it was mounted from.
    struct Entry: Sendable {
        let service: Service
        /// nil for the app's own services, so that an app does not hold itself.
        let mountedFrom: FeathersApp?
        /// Whether the service was registered with `use`, rather than only asked for.
        let isRegistered: Bool
    }

    private struct Entries {
        var byPath: [String: Entry] = [:]
        var observers: [EventSink] = []
        /// The places of the registered paths in their order.
        private var places: [String: Int] = [:]
        private var lastPlace = 0

        var registeredPaths: [String] { places.sorted { $0.value < $1.value }.map(\.key) }

        mutating func set(_ entry: Entry, at path: String) {
            byPath[path] = entry
            guard places[path] == nil else { return }
            lastPlace += 1
            places[path] = lastPlace
        }

        mutating func remove(_ path: String) {
            byPath[path] = nil
            places[path] = nil
        }
    }

    private let entries = Locked(Entries())
    /// Held while an event is handed to its readers, so that what one user was told comes before the gap that tells of the next.
    private let handing = NSLock()
    /// Whether readers get what the server pushes, and whether they have missed any of it.
    private let pushes = Locked((arePaused: false, wereDropped: false))

    /// The entry of a path; made the first time the path is asked for.
    func entry(at path: String, orMake make: () -> Service) -> Entry {
        if let entry = entries.withLock({ $0.byPath[path] }) { return entry }
        let made = Entry(service: make(), mountedFrom: nil, isRegistered: false)
        return entries.withLock { entries in
            if let entry = entries.byPath[path] { return entry }
            entries.byPath[path] = made
            return made
        }
    }

    /// Marks a path as registered. Its service, with hooks and readers, stays if there is one.
    func register(at path: String, orMake make: () -> Service) -> Service {
        entries.withLock { entries in
            // A mounted service belongs to its own app: it is left alone, and the path gets a new one.
            let own = entries.byPath[path].flatMap { $0.mountedFrom == nil ? $0.service : nil }
            let service = own ?? make()
            entries.set(Entry(service: service, mountedFrom: nil, isRegistered: true), at: path)
            return service
        }
    }

    /// Puts a sub-app's service at a path of this app.
    func mount(_ service: Service, of app: FeathersApp, at path: String) {
        entries.withLock { $0.set(Entry(service: service, mountedFrom: app, isRegistered: true), at: path) }
    }

    /// Takes a service out; nil where none was registered.
    func remove(at path: String) -> Entry? {
        entries.withLock { entries in
            guard let entry = entries.byPath[path], entry.isRegistered else { return nil }
            entries.remove(path)
            return entry
        }
    }

    /// The service that is registered at a path.
    func registered(at path: String) -> Entry? { entries.withLock { $0.byPath[path].flatMap { $0.isRegistered ? $0 : nil } } }

    /// The registered services in the order of their registration.
    var registered: [(path: String, entry: Entry)] {
        entries.withLock { entries in
            entries.registeredPaths.compactMap { path in entries.byPath[path].map { (path, $0) } }
        }
    }
}

extension ServiceRegistry {
    /// Hands a transport's events to the services. It does not hold the registry: the transport is held by it.
    var eventSink: EventSink {
        EventSink(
            onEvent: { [weak self] event in self?.receive(event) },
            onGap: { [weak self] reason in self?.emitGap(reason) })
    }

    /// What comes until ``resumePushes()`` is told to no reader: the connection is still another user's.
    func pausePushes() { pushes.withLock { $0.arePaused = true } }

    /// - Returns: whether readers have missed events.
    func resumePushes() -> Bool {
        pushes.withLock { pushes in
            defer { pushes = (false, false) }
            return pushes.wereDropped
        }
    }

    private func receive(_ event: ServiceEvent) {
        let (observers, entry) = entries.withLock { ($0.observers, $0.byPath[event.path]) }
        for observer in observers { observer.receive(event) }
        guard let entry, entry.mountedFrom == nil else { return }
        let service = entry.service
        handing.withLock { if admitsPush() { service.events.emit(event) } }
    }

    /// Hands events of a call to their readers, unless the user whose call it was is gone.
    func hand(_ events: [ServiceEvent], to hub: EventHub<ServiceEvent>, sentAs sender: RequestSender?) {
        guard let sender else { return events.forEach(hub.emit) }
        handing.withLock { if sender.isCurrent { events.forEach(hub.emit) } }
    }

    private func admitsPush() -> Bool {
        pushes.withLock { pushes in
            if pushes.arePaused { pushes.wereDropped = true }
            return !pushes.arePaused
        }
    }

    /// Tells every reader of every service that what follows does not join what went before.
    func emitGap(_ reason: EventGap.Reason, for sender: RequestSender? = nil) {
        // What is being handed over comes first.
        handing.withLock {}
        observe { $0.receiveGap(reason) }
        for service in services { service.events.emit(EventGap(reason: reason, sender: sender)) }
    }

    func addObserver(_ observer: EventSink) {
        entries.withLock { $0.observers.append(observer) }
    }

    /// Tells the observers first, so that a reader of an event finds that they have heard it.
    func observe(_ tell: (EventSink) -> Void) {
        for observer in entries.withLock({ $0.observers }) { tell(observer) }
    }

    /// The app's own services, asked for or registered.
    var services: [Service] {
        entries.withLock { $0.byPath.values.compactMap { $0.mountedFrom == nil ? $0.service : nil } }
    }
}
