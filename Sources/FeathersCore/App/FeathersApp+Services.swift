extension FeathersApp {
    /// The service at a path.
    ///
    /// Slashes at both ends do not count. Where nothing is registered the service is the server's; without a transport its
    /// calls throw ``FeathersError/Code/notFound`` until something is registered.
    public func service(_ path: String) -> Service {
        let path = Self.stripSlashes(path)
        let entry = registry.entry(at: path) {
            guard let transport else { return ServiceRegistration(path: path, implementation: MissingService(path: path)) }
            // A server that pushes events pushes those of our own calls too.
            let pushed = transport is any RealTimeTransport ? Set(EventName.standard) : []
            return ServiceRegistration(
                path: path, implementation: TransportService(transport, gate: gate), options: ServiceOptions(serviceEvents: pushed))
        }
        return Service(app: entry.mountedFrom ?? self, registration: entry.registration)
    }

    /// The service at a path with a model for its records.
    /// - Parameters:
    ///   - path: the service's path; slashes at both ends do not count.
    ///   - model: what a record becomes.
    ///   - rootKeys: the way to the record, list or page inside every result, for servers that wrap them: `["data"]`.
    ///   - coding: how models become JSON and back; nil for the app's way.
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
    ) async throws -> Service {
        let path = Self.stripSlashes(path)
        guard !path.isEmpty else {
            throw FeathersError(.badRequest, "A service needs a path, and the given one is empty", execution: .neverSent)
        }
        try options.validate(for: path)
        let registration = registry.register(service, options: options, at: path)
        if isSetUp, let service = service as? any LifecycleService { try await service.setUp(in: self, at: path) }
        return Service(app: self, registration: registration)
    }

    /// Registers every service of another app under a prefix. They keep running that app's hooks.
    public func use(_ subApp: FeathersApp, at prefix: String) {
        let prefix = Self.stripSlashes(prefix)
        for (path, entry) in subApp.registry.registered {
            registry.mount(entry.registration, of: entry.mountedFrom ?? subApp, at: prefix.isEmpty ? path : "\(prefix)/\(path)")
        }
    }

    /// Takes a registered service out after its tear-down.
    /// - Returns: the service, or nil where none was registered at this path.
    @discardableResult
    public func unuse(_ path: String) async throws -> (any ServiceProtocol)? {
        let path = Self.stripSlashes(path)
        guard let entry = registry.remove(at: path) else { return nil }
        let implementation = entry.registration.implementation
        if entry.mountedFrom == nil {
            // Whoever still holds the service gets an answer that says what happened.
            entry.registration.replace(MissingService(path: path), options: ServiceOptions())
            if let service = implementation as? any LifecycleService { try await service.tearDown(in: self, at: path) }
        }
        return implementation
    }

    /// Hears the standard and custom events that the transport delivers and services emit of themselves, of every path and before any subscriber,
    /// and the gaps between them. The events that end this app's own calls are not among them.
    package func observeEvents(with observer: EventSink) {
        registry.addObserver(observer)
    }

    package static func stripSlashes(_ path: String) -> String {
        var path = Substring(path)
        while path.first == "/" { path.removeFirst() }
        while path.last == "/" { path.removeLast() }
        return String(path)
    }
}
