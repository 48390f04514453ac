/// A function that runs around an app's setup or teardown. Call `next` to continue.
public typealias LifecycleHook = @Sendable (FeathersApp, _ next: () async throws -> Void) async throws -> Void

extension FeathersApp {
    /// Adds hooks that run around the app's own setup and teardown. The first registered is the outermost.
    public func use(setUp: [LifecycleHook] = [], tearDown: [LifecycleHook] = []) {
        withState {
            $0.setUpHooks += setUp
            $0.tearDownHooks += tearDown
        }
    }

    /// Sets up the registered services in the order of their registration. Does nothing if the app is already set up.
    /// ``run()`` and ``withFeathersApp(_:_:)`` call this method.
    /// - Throws: Any error of a service's setup or of a hook. In that case, the app is not set up.
    package func setUpServices() async throws {
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

    /// Tears down the registered services in the order of their registration. Does nothing if the app is not set up.
    /// - Throws: Any error of a service's teardown or of a hook. The app then counts as torn down, and later services
    ///   are not torn down.
    package func tearDownServices() async throws {
        let hooks: [LifecycleHook]? = withState {
            guard $0.phase == .setUp else { return nil }
            $0.phase = .idle
            return $0.tearDownHooks
        }
        guard let hooks else { return }
        defer { noteHealth() }
        try await run(hooks[...]) { service, path in try await service.tearDown(in: self, at: path) }
    }

    /// Whether a newly registered service must be set up immediately.
    var servicesAreSetUp: Bool { withState { $0.phase == .setUp } }

    private func run(_ hooks: ArraySlice<LifecycleHook>, _ body: (any LifecycleService, String) async throws -> Void)
        async throws
    {
        if let hook = hooks.first {
            return try await hook(self) { try await run(hooks.dropFirst(), body) }
        }
        // A service may register others, which are then processed too, or remove others.
        var done: Set<String> = []
        while case let paths = servicePaths.filter({ !done.contains($0) }), !paths.isEmpty {
            for path in paths {
                done.insert(path)
                guard let entry = serviceRegistry.registered(at: path), entry.mountedFrom == nil else { continue }
                if let service = await entry.service.implementation.actor as? any LifecycleService {
                    try await body(service, path)
                }
            }
        }
    }
}
