import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCore

@Suite("The metrics of an app", .timeLimit(.minutes(10)))
struct MetricsTests {
    @Test("count calls by path, method and outcome, with their durations and retries")
    func calls() async throws {
        let transport = StubTransport()
        let busy = ServiceStub.error(FeathersError(.unavailable, "Busy", execution: .neverSent))
        transport.stub("messages", .find, with: .cycle([busy, .value([])]))
        transport.stub("messages", .get, with: .error(FeathersError(.notFound, "None")))
        let app = FeathersApp(transport: transport)
        app.use(hooks: .retrying(attempts: 2, pause: .zero))
        app.recordMetrics()
        app.recordMetrics()
        _ = try await app.service("messages").find()
        _ = try? await app.service("messages").get(1)
        _ = try? await app.service("messages").get(2)
        let calls = app.metrics.calls
        #expect(calls.map(\.method) == ["find", "get"] && calls.allSatisfy { $0.path == "messages" })
        let outcomes = calls.map { calls in calls.outcomes.map { "\($0.errorType ?? "ok") \($1)" } }
        #expect(outcomes == [["ok 1"], ["NotFound 2"]] && calls.map(\.retries) == [1, 0])
        #expect(calls.map(\.durations.count) == [1, 2] && app.metrics.callsInFlight == 0)
    }

    @Test("count connections, what waits in the transport, and events that slow readers have lost")
    func connection() async throws {
        let transport = StubRealTimeTransport()
        let app = FeathersApp(transport: transport)
        app.recordMetrics()
        let (stood, stoodAgain) = (Promise<Void>(), Promise<Void>())
        // Told after the recorder.
        app.use(
            diagnostics: .closure { event in
                if event["recovered"] != nil, !stood.resolve(()) { stoodAgain.resolve(()) }
            })
        let events = app.service("messages").events("tick", bufferingNewest: 2)
        try await withFeathersApp(app) { app in
            try await stood.value()
            for number in 1...5 { transport.emit("tick", of: "messages", .integer(Int64(number))) }
            transport.drop(.pingTimeout)
            for await health in app.healthUpdates() where health.state == .reconnecting { break }
            transport.restore()
            try await stoodAgain.value()
        }
        let metrics = app.metrics
        #expect(metrics.connections == 2 && metrics.reconnections == 1 && metrics.transport != nil)
        #expect(metrics.events.map(\.subscribers) == [1] && metrics.events.map(\.waiting) == [2])
        #expect(metrics.events.map(\.received) == [5])
        // One more for the marker of the gap.
        #expect(metrics.events.map(\.dropped) == [4])
        withExtendedLifetime(events) {}
    }

    @Test("put each duration into the first bucket it is not longer than")
    func histogram() {
        var histogram = DurationHistogram()
        for duration in [Duration.zero, .milliseconds(5), .milliseconds(6), .seconds(1), .seconds(31)] {
            histogram.add(duration)
        }
        #expect(histogram.counts == [2, 1, 0, 0, 0, 1, 0, 0, 1])
        #expect(histogram.count == 5 && histogram.sum == .milliseconds(32_011))
    }

    @Test("of paths that somebody makes up are bounded")
    func bounded() async throws {
        let app = FeathersApp(transport: StubTransport { _ in [] })
        app.recordMetrics()
        for number in 0..<110 { _ = try await app.service("path \(number)").find() }
        let calls = app.metrics.calls
        let others = calls.first { $0.path == "_OTHER" }
        #expect(calls.count == 101 && others?.count == 10 && others?.durations.count == 86)
        // A registered service is always distinguished.
        _ = try await app.use(MemoryService(), at: "orders").find()
        #expect(app.metrics.calls.contains { $0.path == "orders" })
    }

    @Test("show the open event streams of each service, as those of a gateway's readers, and always of registered ones")
    func readers() async throws {
        let app = FeathersApp(transport: StubTransport())
        let orders = try await app.use(MemoryService(), at: "zorders")
        var streams = (0..<60).map { app.service("path \($0)").eventDeliveries() }
        streams += (0..<3).map { _ in orders.eventDeliveries() }
        func readers(of path: String) -> Int? {
            app.metrics.samples.first {
                $0.name == "feathers_event_subscribers" && $0.labels.map(\.1) == [path]
            }?.value
        }
        #expect(app.metrics.events.count == 52)
        #expect(readers(of: "zorders") == 3 && readers(of: "_OTHER") == 10)
        streams.removeLast(2)
        #expect(readers(of: "zorders") == 1)
        streams = []
        #expect(app.metrics.events.isEmpty)
    }

    @Test("of endpoints take no place from services")
    func endpoints() {
        let recorder = MetricsRecorder()
        func count(_ path: String, _ method: String) {
            recorder.receive(
                DiagnosticEvent(
                    .info, .calls, "", [.path: .string(path), .method: .string(method), .outcome: "ok"]))
        }
        for number in 0..<1_100 { count("profiles/\(number)/picture", "request") }
        count("profiles/5f8d0d55b54764421b7156d9/picture", "request")
        for number in 0..<40 { count("page\(number)", "request") }
        count("orders", "get")
        let calls = recorder.counted.calls
        #expect(calls.count == 34 && calls.contains { $0.path == "orders" })
        #expect(calls.first { $0.path == "profiles/:id/picture" }?.count == 1_101)
        #expect(calls.first { $0.path == "_OTHER" }?.count == 9)
    }

    @Test("of a busy gateway are a text of less than 64 KB")
    func size() async throws {
        let app = FeathersApp(
            transport: StubTransport { request in
                switch request.id?.description {
                case "2": throw FeathersError(.notFound, "None")
                case "3": throw FeathersError(.timeout, "Slow", execution: .mayHaveExecuted)
                default: return []
                }
            })
        app.recordMetrics()
        for service in 0..<30 {
            for method in [ServiceMethod.find, "create", "patch", "archive"] {
                for id in 1...3 {
                    let request = ServiceRequest(
                        path: "services/number-\(service)", method: method, id: .integer(Int64(id)), data: [:])
                    _ = try? await app.service(request.path).respond(to: request)
                }
            }
        }
        let text = app.metrics.prometheusText
        #expect(text.utf8.count < 64 << 10)
        #expect(text.contains("rpc_method=\"_OTHER/_OTHER\""))
    }

    @Test("are samples with names and labels, for any metrics system, and the same as in the text for Prometheus")
    func samples() async throws {
        let app = FeathersApp(
            transport: StubRealTimeTransport(services: ["messages": MemoryService()], pushesEvents: false))
        app.recordMetrics()
        let events = app.service("messages").events("tick")
        try await withFeathersApp(app) { app in
            _ = try await app.service("messages").find()
            let samples = app.metrics.samples
            func values(_ name: String) -> [String] {
                samples.filter { $0.name == "feathers_\(name)" }.map { "\($0.kind) \($0.labels.map(\.1)) \($0.value)" }
            }
            #expect(values("up") == ["gauge [] 1"])
            #expect(values("transport_up") == [#"gauge ["connection"] 1"#])
            #expect(values("calls_total") == [#"counter ["messages/find"] 1"#])
            #expect(values("call_retries_total").isEmpty)
            #expect(values("calls_in_flight") == ["gauge [] 0"])
            #expect(values("calls_waiting") == [#"gauge ["turn"] 0"#, #"gauge ["connection"] 0"#])
            #expect(values("calls_unanswered") == ["gauge [] 0"])
            #expect(values("events_received_total") == [#"counter ["messages"] 0"#])
            #expect(values("reconnections_total") == ["counter [] 0"])
            #expect(values("event_subscribers") == [#"gauge ["messages"] 1"#])
            #expect(values("events_waiting") == [#"gauge ["messages"] 0"#])
            #expect(values("events_dropped_total") == [#"counter ["messages"] 0"#])
            let lines = app.metrics.prometheusText.split(separator: "\n")
            for sample in samples { #expect(lines.contains { $0.hasPrefix(sample.name) }) }
            // A system may expect all samples of a name in a row, as Prometheus does.
            let names = samples.map(\.name)
            #expect(names.indices.dropFirst().filter { names[$0] != names[$0 - 1] }.count + 1 == Set(names).count)
        }
        withExtendedLifetime(events) {}
    }

    @Test("are text as Prometheus reads it")
    func prometheus() async throws {
        let app = FeathersApp(transport: StubTransport { _ in [] })
        app.recordMetrics()
        _ = try await app.service("a \"quoted\\ path\n").find()
        let lines = app.metrics.prometheusText.split(separator: "\n")
        let labels = #"rpc_method="a \"quoted\\ path\n/find""#
        let measured = "rpc_system_name=\"feathers\",\(labels)"
        #expect(lines.contains("feathers_up 0"))
        #expect(lines.contains("# TYPE rpc_client_call_duration_seconds histogram"))
        #expect(lines.contains("feathers_calls_total{\(labels)} 1"))
        // On a busy machine, even this call may take longer.
        #expect(lines.contains { $0.hasPrefix("rpc_client_call_duration_seconds_bucket{\(measured),le=\"10.0\"} ") })
        #expect(lines.contains("rpc_client_call_duration_seconds_bucket{\(measured),le=\"+Inf\"} 1"))
        #expect(lines.contains("rpc_client_call_duration_seconds_count{\(measured)} 1"))
        #expect(!lines.contains { $0.contains("connections") })
        for line in lines {
            #expect(line.hasPrefix("#") || line.split(separator: " ").last.flatMap { Double($0) } != nil)
        }
    }
}
