import Feathers
import Hummingbird
import ServiceLifecycle

extension Gateway {
    /// Forwards the events of a service as server-sent events, until the client
    /// disconnects or the server shuts down.
    func events(of path: String, for request: Request) async throws -> Response {
        guard publicEvents.contains(path) else {
            throw FeathersError(.notFound, "'\(path)' has no public events")
        }
        // Subscribed before the client gets a response, so that it misses nothing after
        // that. The events are those of the gateway's own user.
        let own: [EventName] =
            app.health.isReady ? [.heartbeat] : [.heartbeat, .connected]
        let deliveries = await app.asOwnUser {
            app.service(path).eventDeliveries(EventName.standard + own)
        }
        let body = ResponseBody { writer in
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                // Something must arrive before browsers regard the stream as open.
                try await writer.write(ByteBuffer(string: ": listening\n\n"))
                // The server shuts down only after all responses have ended.
                for await delivery in deliveries.cancelOnGracefulShutdown() {
                    try await writer.write(ByteBuffer(string: text(of: delivery)))
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
            body: body)
    }

    private func text(of delivery: EventDelivery<ServiceEvent>) -> String {
        switch delivery {
        case .event(let event) where event.name == .heartbeat: ": heartbeat\n\n"
        // Events are missing here, so a client that shows a list fetches it again.
        case .event(let event) where event.name == .connected: gap
        case .gap: gap
        case .event(let event): "event: \(event.name)\ndata: \(event.data)\n\n"
        }
    }

    private var gap: String { "event: gap\ndata: null\n\n" }
}

/// Emits what the readers of events have to know besides the events of the server. One
/// timer is enough for any number of readers.
struct EventUpkeep: ServiceLifecycle.Service {
    let app: FeathersApp
    let paths: Set<String>
    var interval = Duration.seconds(15)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await reportConnection() }
                group.addTask { await sendHeartbeats() }
            }
        }
    }

    /// A reader from before the first connection has missed what happened until then.
    /// After later connections, the app itself reports a gap.
    private func reportConnection() async {
        for await health in app.healthUpdates() where health.isReady {
            return emit(.connected)
        }
    }

    /// Proxies close streams that are silent, and a write shows that a reader has left.
    private func sendHeartbeats() async {
        while (try? await Task.sleep(for: interval)) != nil { emit(.heartbeat) }
    }

    func emit(_ event: EventName) {
        for path in paths { app.service(path).emit(event, .null) }
    }
}

extension EventName {
    /// Events of the gateway, for its readers only.
    static let heartbeat: Self = "gateway heartbeat"
    static let connected: Self = "gateway connected"
}
