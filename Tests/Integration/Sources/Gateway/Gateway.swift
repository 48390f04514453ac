import Feathers
import Hummingbird
import Logging
import ServiceLifecycle

/// An HTTP server in front of a FeathersJS server. It makes each request's calls as the
/// user who sent the request, and forwards events to browsers.
public struct Gateway: Sendable {
    let app: FeathersApp
    /// The services whose events anyone may receive.
    let publicEvents: Set<String>
    let readers: Readers
    let logger: Logger

    /// Prepares an app for the gateway: whose calls it makes, logs, metrics, traces,
    /// and a circuit breaker.
    public init(
        app: FeathersApp, publicEvents: Set<String>, maximumReaders: Int = 10_000,
        logger: Logger
    ) throws {
        (self.app, self.publicEvents, self.logger) = (app, publicEvents, logger)
        readers = Readers(limit: maximumReaders)
        // No call is made as the gateway's own user by mistake.
        try app.use(authentication: AuthenticationOptions { $0.requiresToken = true })
        app.recordMetrics()
        app.use(diagnostics: LogSink(logger: logger))
        app.use(diagnostics: CallTimer(), levels: DiagnosticLevels(nil, [.calls: .info]))
        app.use(hooks: Hooks(around: [tracing, requestID]))
        app.use(hooks: .circuitBreaker(failures: 5, of: 10, pause: .seconds(10)))
    }

    /// The server. On a graceful shutdown, its app ends after the last response.
    public func application(_ configuration: ApplicationConfiguration)
        -> some ApplicationProtocol
    {
        Application(
            router: router(), configuration: configuration, services: services,
            logger: logger)
    }

    var services: [any ServiceLifecycle.Service] {
        [
            FeathersLife(app: app), MetricsExport(app: app),
            EventUpkeep(app: app, paths: publicEvents),
        ]
    }

    func router() -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        router.addMiddleware {
            TracingMiddleware()
            RequestLogging()
            FeathersErrors()
        }
        router.get("health") { _, _ in health() }
        router.get("events/:service") { request, context in
            try await events(
                of: try context.parameters.require("service"), for: request)
        }
        let messages = app.service("messages", of: Message.self)
        router.group("messages").add(middleware: UserCalls(app: app))
            .get(":id") { _, context in
                try await messages.get(try context.parameters.require("id", as: Int.self))
            }
            .post { request, context in
                let message = try await messages.create(
                    request.decode(as: Message.self, context: context))
                return EditedResponse(status: .created, response: message)
            }
        return router
    }

    /// For a load balancer, which sends requests only while the FeathersJS server is
    /// reachable.
    private func health() -> Response {
        let health = app.health
        return Response(
            status: health.isReady ? .ok : .serviceUnavailable,
            headers: [.contentType: "text/plain"],
            body: ResponseBody(
                byteBuffer: ByteBuffer(
                    string: "\(health.reason), since \(health.since)\n")))
    }
}

/// The context of a request, with a bound on its body: a larger one is refused with 413.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var maxUploadSize: Int { 100_000 }

    init(source: ApplicationRequestContextSource) { coreContext = .init(source: source) }
}

/// A record of the service `messages`.
struct Message: ResponseCodable, Sendable {
    var id: Int?
    var text: String
}
