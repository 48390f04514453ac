import Feathers
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization

extension Gateway {
    /// Forwards the events of a service as server-sent events, until the client
    /// disconnects or the server shuts down.
    func events(of path: String, for request: Request) async throws -> Response {
        guard publicEvents.contains(path) else {
            throw FeathersError(.notFound, "'\(path)' has no public events")
        }
        guard let seat = readers.seat() else {
            throw HTTPError(
                .serviceUnavailable, headers: [.retryAfter: "5"],
                message: "There are too many readers of events")
        }
        // Subscribed before the client gets a response, so that it misses nothing after
        // that. The events are those of the gateway's own user.
        let own: [EventName] =
            app.health.hasEvents ? [.heartbeat] : [.heartbeat, .connected]
        let deliveries = await app.asOwnUser {
            app.service(path).eventDeliveries(EventName.standard + own)
        }
        // An event source that connects again sends the id that it got below.
        let isBack =
            HTTPField.Name("Last-Event-ID").map { request.headers.contains($0) } ?? false
        let body = ResponseBody { writer in
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                // Something must arrive before browsers regard the stream as open.
                let start = ": listening\nid: 1\n\n" + (isBack ? gap : "")
                try await writer.write(ByteBuffer(string: start))
                // The server shuts down only after all responses have ended.
                for await delivery in deliveries.cancelOnGracefulShutdown() {
                    try await writer.write(ByteBuffer(string: text(of: delivery)))
                }
            }
            try await writer.finish(nil)
            withExtendedLifetime(seat) {}
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

/// The readers of events. Their number has a limit, because each takes memory and an
/// open file.
final class Readers: Sendable {
    let limit: Int
    private let count = Mutex(0)

    init(limit: Int) { self.limit = limit }

    /// A seat for one more reader, until it is released; nil if all are taken.
    func seat() -> Seat? {
        let isFree = count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        return isFree ? Seat(readers: self) : nil
    }

    final class Seat: Sendable {
        private let readers: Readers

        fileprivate init(readers: Readers) { self.readers = readers }

        deinit { readers.count.withLock { $0 -= 1 } }
    }
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
        for await health in app.healthUpdates() where health.hasEvents {
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

extension AppHealth {
    /// Whether events arrive. The gateway is ready without them, because its calls go
    /// over REST.
    package var hasEvents: Bool {
        transports.contains { $0.kind == .connection && $0.isReachable }
    }
}
