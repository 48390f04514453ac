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
