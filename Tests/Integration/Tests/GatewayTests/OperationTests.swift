import Feathers
import FeathersTesting
import InMemoryLogging
import ServiceLifecycle
import Testing

@testable import Gateway

@Suite("The operation of a gateway", .timeLimit(.minutes(5)))
struct OperationTests {
    @Test("Health is 200 while only the connection of events is lost, and says so")
    func health() async throws {
        let stand = try Stand()
        try await stand.run { browser, _ in
            let ready = try await browser.send("GET", "/health")
            #expect(ready.status == 200 && ready.text.hasPrefix("The app is ready, since "))
            stand.connection.drop()
            await stand.app.reaches { !$0.hasEvents }
            let lost = try await browser.send("GET", "/health")
            #expect(lost.status == 200 && lost.text.contains("no events"))
            stand.connection.restore()
            await stand.app.reaches { $0.hasEvents }
            #expect(try await browser.send("GET", "/health").status == 200)
        }
    }

    @Test("What is logged of a request and of its calls has one id, which the FeathersJS server receives too")
    func requestIDs() async throws {
        let stand = try Stand()
        stand.rest.stub("messages", .get, with: .value(["id": 7, "text": "Hi"]))
        try await stand.run { browser, _ in
            let own = try await browser.send("GET", "/messages/7", token: "alice")
            let given = try await browser.send(
                "GET", "/messages/8", token: "alice", fields: ["X-Request-Id": "from-the-proxy"])
            let id = try #require(own.fields["X-Request-Id"])
            #expect(id != "from-the-proxy" && given.fields["X-Request-Id"] == "from-the-proxy")
            for (path, id) in [("7", id), ("8", "from-the-proxy")] {
                let entries = stand.logs.entries.filter { $0.metadata["request-id"] == "\(id)" }
                #expect(entries.contains { "\($0.message)".hasPrefix("get messages/\(path) ok") })
                #expect(entries.contains { $0.message == "GET /messages/\(path) 200" })
            }
            #expect(stand.rest.requests.map { $0.params.headers["X-Request-Id"] } == [id, "from-the-proxy"])
        }
        // What is not part of a request is logged too.
        let others = stand.logs.entries.filter { $0.metadata["request-id"] == nil }
        #expect(others.contains { "\($0.message)".contains("onnected") })
        #expect(!stand.logs.entries.contains { "\($0)".contains("alice") })
    }

    @Test("Every gauge and counter is exported, and the duration of every call")
    func metrics() async throws {
        let stand = try Stand()
        stand.rest.stub("measured", .find, with: .value([]))
        let metrics = Stand.systems.metrics
        try await stand.run { _, _ in
            let measured = stand.app.service("measured")
            _ = try await stand.app.asOwnUser { try await measured.find() }
            let events = await stand.app.asOwnUser { measured.events(.created) }
            MetricsExport(app: stand.app).export()
            for sample in stand.app.metrics.samples {
                #expect(!metrics.meters(label: sample.name, dimensions: sample.labels).isEmpty, "\(sample.name)")
            }
            withExtendedLifetime(events) {}
        }
        let (service, call) = ([("rpc_service", "measured")], [("rpc_method", "measured/find")])
        #expect(try metrics.expectMeter("feathers_event_subscribers", service).lastValue == 1)
        #expect(try metrics.expectMeter("feathers_calls_total", call).lastValue == 1)
        #expect(try metrics.expectTimer("rpc_client_call_duration", call).values.count == 1)
    }

    @Test("A call is a span of its request's trace, which goes on to the FeathersJS server")
    func traces() async throws {
        let stand = try Stand()
        stand.rest.stub("messages", .get, with: .error(FeathersError(.notFound, "No record")))
        try await stand.run { browser, _ in
            let trace = ["in-memory-trace-id": "of-the-browser", "in-memory-span-id": "browser"]
            _ = try await browser.send("GET", "/messages/9", token: "alice", fields: trace)
        }
        let spans = Stand.systems.tracer.finishedSpans.filter { $0.traceID == "of-the-browser" }
        let call = try #require(spans.first { $0.operationName == "feathers.get" })
        #expect(spans.contains { $0.spanID == call.parentSpanID && $0.operationName == "/messages/{id}" })
        #expect(call.attributes.get("feathers.error.code") == .int64(404) && call.errors.count == 1)
        let sent = try #require(stand.rest.requests.first).params.headers
        #expect(sent["in-memory-trace-id"] == "of-the-browser" && sent["in-memory-span-id"] == call.spanID)
    }

    @Test("A graceful shutdown lets requests in flight finish, and then ends the app")
    func shutdown() async throws {
        let stand = try Stand()
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        stand.rest.stub(
            "messages", .get,
            with: ServiceStub { _ in
                for await _ in opened {}
                return ["id": 7, "text": "Hi"]
            })
        try await stand.run { browser, server in
            async let response = browser.send("GET", "/messages/7", token: "alice")
            try await stand.rest.waitForRequest(number: 1)
            await server.triggerGracefulShutdown()
            opening.finish()
            let received = try await response
            #expect(received.status == 200 && received.text.contains(#""text":"Hi""#))
        }
        #expect(stand.app.health.state == .stopped)
    }

    @Test("Told to end, the gateway is not ready at once, but makes calls until the notice has passed")
    func departure() async throws {
        let stand = try Stand()
        stand.rest.stub("messages", .get, with: .value("done"))
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [FeathersLife(app: stand.app), Departure(app: stand.app, notice: .seconds(600))],
                logger: stand.gateway.logger))
        let life = Task { try await group.run() }
        await stand.app.reaches { $0.hasEvents }
        await group.triggerGracefulShutdown()
        await stand.app.reaches { $0.state == .shuttingDown }
        #expect(try await stand.app.asOwnUser { try await stand.app.service("messages").get(7) } == "done")
        life.cancel()
        _ = await life.result
        #expect(stand.app.health.state == .stopped)
    }

    @Test("The app's own shutdown lets calls in flight finish and refuses new ones")
    func life() async throws {
        let stand = try Stand()
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        stand.rest.stub(
            "messages", .get,
            with: ServiceStub { _ in
                for await _ in opened {}
                return "done"
            })
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [FeathersLife(app: stand.app)], logger: stand.gateway.logger))
        async let life: Void = group.run()
        await stand.app.reaches { $0.hasEvents }
        async let call = stand.app.asOwnUser { try await stand.app.service("messages").get(7) }
        try await stand.rest.waitForRequest(number: 1)
        await group.triggerGracefulShutdown()
        await stand.app.reaches { $0.state == .shuttingDown }
        let refusal = await #expect(throws: FeathersError.self) {
            try await stand.app.asOwnUser { try await stand.app.service("messages").find() }
        }
        #expect(refusal?.httpStatus == 503)
        opening.finish()
        #expect(try await call == "done")
        try await life
        #expect(stand.app.health.state == .stopped)
    }
}
