import Feathers
import ServiceLifecycle

/// Runs an app as a service. On a graceful shutdown, calls in flight may finish.
struct FeathersLife: ServiceLifecycle.Service {
    let app: FeathersApp

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await app.run()
        } onGracefulShutdown: {
            app.beginShutdown(within: .seconds(20))
        }
    }
}

/// Keeps the server running for a while after the process is told to end, so that the
/// load balancer notices that it isn't ready and sends requests elsewhere. A group shuts
/// its last service down first, and the next one after that has ended.
public struct Departure: ServiceLifecycle.Service {
    let app: FeathersApp
    let notice: Duration

    public init(app: FeathersApp, notice: Duration) {
        (self.app, self.notice) = (app, notice)
    }

    public func run() async throws {
        try await gracefulShutdown()
        app.beginShutdown(after: notice, within: .seconds(20))
        try await Task.sleep(for: notice)
    }
}
