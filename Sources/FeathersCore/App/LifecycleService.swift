/// A service that has something to do before an app starts or after it ends.
public protocol LifecycleService: ServiceProtocol {
    /// Prepares the service: when its app is set up, or when it is registered in an app that already is.
    /// - Throws: whatever keeps it from its work; the app's set-up, or `use`, throws it on.
    func setUp(in app: FeathersApp, at path: String) async throws

    /// Ends the service: when its app is torn down, or when it is taken out.
    func tearDown(in app: FeathersApp, at path: String) async throws
}

extension LifecycleService {
    public func setUp(in app: FeathersApp, at path: String) async throws {}
    public func tearDown(in app: FeathersApp, at path: String) async throws {}
}

/// A function that runs around an app's set-up or tear-down; it calls `next` to go on.
public typealias LifecycleHook = @Sendable (FeathersApp, _ next: () async throws -> Void) async throws -> Void

/// The hooks around an app's life; the first registered is the outermost.
struct LifecycleHooks: Sendable {
    var setUp: [LifecycleHook] = []
    var tearDown: [LifecycleHook] = []
}
