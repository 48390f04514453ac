import Feathers
import FeathersTesting
import Foundation
import Hummingbird
import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import Tracing

@testable import Gateway

/// A gateway in this process, on a port of its own, in front of a FeathersJS server that is a stub.
struct Stand: Sendable {
    /// Where calls go.
    let rest = StubTransport()
    /// Where events come from.
    let connection = StubRealTimeTransport()
    let logs = InMemoryLogHandler()
    let app: FeathersApp
    let gateway: Gateway
    /// What the gateway writes into the bodies of responses, as soon as it does.
    let written: AsyncStream<String>
    private let writing: AsyncStream<String>.Continuation

    init(maximumReaders: Int = 10_000) throws {
        app = FeathersApp(transport: .mixed(realTime: connection, rest: rest) { $0.standard = .rest })
        let logger = Logger(label: "gateway") { [logs] _ in logs }
        (written, writing) = AsyncStream.makeStream()
        _ = Stand.systems
        gateway = try Gateway(app: app, publicEvents: ["messages"], maximumReaders: maximumReaders, logger: logger)
    }

    /// Runs the gateway and its app, and shuts them down after `body`.
    /// - Parameter isConnected: Whether `body` begins after the first connection.
    func run(
        isConnected: Bool = true, _ body: @Sendable (Browser, ServiceGroup) async throws -> Void
    ) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = Application(
            responder: Overheard(responder: gateway.router().buildResponder(), writing: writing),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            services: gateway.services, onServerRunning: { listening.yield($0.localAddress?.port ?? 0) },
            logger: gateway.logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [server], logger: gateway.logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await group.run()
            }
            for await port in ports {
                if isConnected { await app.reaches { $0.hasEvents } }
                try await body(Browser(port: port), group)
                await group.triggerGracefulShutdown()
            }
            try await tasks.waitForAll()
        }
    }

    /// Metrics and traces of all gateways in this process, because these systems are set up once for a process.
    static let systems: (metrics: TestMetrics, tracer: InMemoryTracer) = {
        let systems = (metrics: TestMetrics(), tracer: InMemoryTracer())
        MetricsSystem.bootstrap(systems.metrics)
        InstrumentationSystem.bootstrap(systems.tracer)
        return systems
    }()
}

extension FeathersApp {
    /// Waits for a state of the app.
    func reaches(_ condition: (AppHealth) -> Bool) async {
        for await health in healthUpdates() where condition(health) { return }
    }
}

/// A responder whose response bodies are overheard while they are written.
private struct Overheard<Base: HTTPResponder>: HTTPResponder {
    let responder: Base
    let writing: AsyncStream<String>.Continuation

    func respond(to request: Request, context: Base.Context) async throws -> Response {
        var response = try await responder.respond(to: request, context: context)
        let body = response.body
        response.body = ResponseBody { [writing] writer in try await body.write(Writer(base: writer, writing: writing))
        }
        return response
    }

    private struct Writer: ResponseBodyWriter {
        var base: any ResponseBodyWriter
        let writing: AsyncStream<String>.Continuation

        mutating func write(_ buffer: ByteBuffer) async throws {
            try await base.write(buffer)
            writing.yield(String(buffer: buffer))
        }

        consuming func finish(_ fields: HTTPFields?) async throws { try await base.finish(fields) }
    }
}
