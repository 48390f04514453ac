import Feathers
import Foundation
import TestBackend
import Testing

@testable import EventStream

@Suite("The example that forwards events", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct EventStreamTests {
    private static let backend = TestBackend(variables: [:])

    @Test("streams events and gaps to its clients, says how it is, and ends in order")
    func serves() async throws {
        let url = try await Self.backend.url()
        let proxy = try await FaultProxy(to: url)
        let messages = FeathersApp(transport: .rest(url)).service("messages")
        let app = FeathersApp(
            transport: .socketIO(proxy.url) {
                $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(100))
            })
        app.recordMetrics()
        let (connections, connected) = AsyncStream.makeStream(of: Void.self)
        // Told after the recorder.
        app.use(diagnostics: .closure { event in if event["recovered"] != nil { connected.yield() } })
        let listener = try Listener(port: 0)
        let server = EventStreamServer(app: app, paths: ["messages"])
        app.use(backgroundWork: { _ in await server.run(on: listener) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.run() }
            for await health in app.healthUpdates() where health.isReady { break }
            #expect(try await HTTPTap.answer("/health", port: listener.port).hasPrefix("HTTP/1.1 200 OK\r\n"))

            let events = try HTTPTap("/events/messages", port: listener.port)
            #expect(await events.text { $0.hasSuffix("\r\n\r\n") }.contains("Content-Type: text/event-stream"))
            try await messages.create(["text": "first"])
            #expect(await events.text { $0.hasSuffix("\n\n") }.hasPrefix("event: created\ndata: {\"text\":\"first\""))

            try await proxy.refuse()
            try await proxy.cut()
            for await health in app.healthUpdates() where !health.isReady { break }
            let unready = try await HTTPTap.answer("/health", port: listener.port)
            #expect(unready.hasPrefix("HTTP/1.1 503") && unready.contains("The connection was lost"))
            try await messages.create(["text": "missed"])
            try await proxy.accept()
            #expect(await events.text { $0.hasSuffix("\n\n") } == "event: gap\ndata: null\n\n")
            try await messages.create(["text": "second"])
            #expect(await events.text { $0.hasSuffix("\n\n") }.contains("\"text\":\"second\""))

            for await _ in connections.prefix(2) {}
            let metrics = try await HTTPTap.answer("/metrics", port: listener.port)
            #expect(metrics.contains("feathers_reconnections_total 1\n"))
            #expect(metrics.contains("feathers_event_subscribers{rpc_service=\"messages\"} 1\n"))
            #expect(try await HTTPTap.answer("/events/secrets", port: listener.port).hasPrefix("HTTP/1.1 404"))

            app.beginShutdown(within: .seconds(5))
            try await group.waitForAll()
            #expect(await events.text { _ in false } == "")
        }
        try await proxy.close()
    }
}
