import Feathers

/// Forwards the events of services to HTTP clients as server-sent events, and reports the app's health.
///
/// `/events/<service>` streams a service's events, `/health` responds with 200 or 503, and `/metrics` is for
/// Prometheus.
struct EventStreamServer: Sendable {
    let app: FeathersApp
    /// The services whose events are public.
    let paths: Set<String>

    /// Serves every client that connects, until the task is cancelled.
    func run(on listener: Listener) async {
        await withDiscardingTaskGroup { group in
            for await client in listener.clients() { group.addTask { await serve(client) } }
            group.cancelAll()
        }
    }

    private func serve(_ client: Client) async {
        defer { client.close() }
        var head = ""
        for await bytes in client.bytes {
            head += String(decoding: bytes, as: UTF8.self)
            if head.contains("\r\n\r\n") || head.utf8.count > 8192 { break }
        }
        let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
        guard words.count == 3, words[0] == "GET" else { return answer(client, "405 Method Not Allowed", "") }
        switch words[1] {
        case "/health":
            let health = app.health
            answer(
                client, health.isReady ? "200 OK" : "503 Service Unavailable",
                "\(health.reason), since \(health.since)\n")
        case "/metrics": answer(client, "200 OK", app.metrics.prometheusText, type: "text/plain; version=0.0.4")
        case let target where target.hasPrefix("/events/") && paths.contains(String(target.dropFirst(8))):
            await forward(String(target.dropFirst(8)), to: client)
        default: answer(client, "404 Not Found", "")
        }
    }

    private func answer(_ client: Client, _ status: String, _ body: String, type: String = "text/plain") {
        let fields = "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close"
        _ = client.send("HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n\(body)")
    }

    /// Forwards events until the client disconnects or falls behind. Clients of event streams reconnect automatically.
    private func forward(_ path: String, to client: Client) async {
        // Listens before the client gets a response, so that no event is missed.
        let deliveries = app.service(path).eventDeliveries()
        let fields = "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close"
        guard client.send("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n") else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await delivery in deliveries {
                    guard client.send(Self.text(of: delivery)) else { return }
                }
            }
            group.addTask {
                for await _ in client.bytes {}
            }
            await group.next()
            group.cancelAll()
        }
    }

    private static func text(of delivery: EventDelivery<ServiceEvent>) -> String {
        switch delivery {
        case .event(let event): "event: \(event.name)\ndata: \(event.data)\n\n"
        // A client that must not miss anything fetches again at this point.
        case .gap: "event: gap\ndata: null\n\n"
        }
    }
}
