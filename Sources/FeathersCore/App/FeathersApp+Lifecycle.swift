extension FeathersApp {
    /// Adds hooks that run around the app's own set-up and tear-down.
    public func addLifecycleHooks(setUp: [LifecycleHook] = [], tearDown: [LifecycleHook] = []) {
        withState {
            $0.lifecycle.setUp += setUp
            $0.lifecycle.tearDown += tearDown
        }
    }

    /// Sets up the registered services in the order of their registration; does nothing in an app that is set up.
    /// - Throws: what a service's set-up or a hook throws; the app then counts as not set up.
    public func setUp() async throws {
        let hooks: [LifecycleHook]? = withState {
            guard $0.phase == .idle else { return nil }
            $0.phase = .settingUp
            return $0.lifecycle.setUp
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
            return $0.lifecycle.tearDown
        }
        guard let hooks else { return }
        defer { noteHealth() }
        try await run(hooks[...]) { service, path in try await service.tearDown(in: self, at: path) }
    }

    /// Whether a service that is registered now must be set up at once.
    var isSetUp: Bool { withState { $0.phase == .setUp } }

    private func run(_ hooks: ArraySlice<LifecycleHook>, _ body: (any LifecycleService, String) async throws -> Void) async throws {
        if let hook = hooks.first {
            return try await hook(self) { try await run(hooks.dropFirst(), body) }
        }
        // Looked up anew: a service may register others, which then have their turn too, or take others out.
        var done: Set<String> = []
        while true {
            let waiting = registry.registered.filter { $0.entry.mountedFrom == nil && !done.contains($0.path) }
            guard !waiting.isEmpty else { return }
            for (path, _) in waiting {
                guard let entry = registry.registered(at: path), entry.mountedFrom == nil else { continue }
                done.insert(path)
                if let service = entry.registration.implementation as? any LifecycleService { try await body(service, path) }
            }
        }
    }
}
