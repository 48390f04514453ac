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
        let deliveries = await app.asOwnUser { app.service(path).eventDeliveries() }
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
        case .event(let event): "event: \(event.name)\ndata: \(event.data)\n\n"
        // Events are missing here, so a client that shows a list fetches it again.
        case .gap: "event: gap\ndata: null\n\n"
        }
    }
}
