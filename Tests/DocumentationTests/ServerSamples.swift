import Feathers
import Foundation

// The samples of the article about servers, each one as it stands there: `ReadmeTests` compares them.

private func living(_ url: URL) async throws {
    @Sendable func mirror(_ service: Service<JSONValue>) async {}
    let app = FeathersApp(transport: .socketIO(url))
    app.use(backgroundWork: { app in await mirror(app.service("messages")) })
    try await app.run()
}

private func signaled(_ app: FeathersApp) async throws {
    try await app.run(until: [.terminate, .interrupt], shutDownWithin: .seconds(20))
}

private func ending(_ app: FeathersApp) async {
    let left = await app.shutDown(within: .seconds(20))
    if left > 0 { print("\(left) calls did not finish in time") }
}

private func answer(_ status: Int, _ text: String) {}

private func health(_ app: FeathersApp) async {
    let health = app.health
    answer(health.isReady ? 200 : 503, "\(health.reason), since \(health.since)")
    for await health in app.healthUpdates() { print(health.state) }
}

private func metrics(_ app: FeathersApp) {
    app.recordMetrics()
    let metrics = app.metrics
    print(metrics.callsInFlight, metrics.reconnections, metrics.events.map(\.dropped))
    answer(200, metrics.prometheusText)
}

private func transports(_ app: FeathersApp) {
    for transport in app.health.transports {
        let failure = transport.lastFailure?.reason ?? "none"
        print(transport.kind, transport.isReachable, "last failure: \(failure)")
    }
}

private func deadline(_ app: FeathersApp, _ id: Int) async throws {
    let (room, unread) = try await app.withDeadline(.seconds(3)) {
        let room = try await app.service("rooms").get(id)
        return (room, try await app.service("messages").find(.where("roomID", id)))
    }
    _ = (room, unread)
}

private func samples(_ app: FeathersApp) {
    func send(_ name: String, _ labels: [(String, String)], _ value: Int, isTotal: Bool) {}
    for sample in app.metrics.samples {
        send(sample.name, sample.labels, sample.value, isTotal: sample.kind == .counter)
    }
}

private protocol Working {
    func run() async throws
}

private func working(_ app: FeathersApp, _ worker: any Working) async throws {
    try await withFeathersApp(app) { app in
        // First the work ends, which says so to the server; then the connection.
        try await worker.run()
        await app.shutDown(within: .seconds(10))
    }
}

private func nodes(_ balancer: URL) {
    let transport = SocketIOTransport.socketIO(balancer) { options in
        options.transports = [.webSocket]
        options.reconnection = ReconnectionPolicy(maximumDelay: .seconds(10))
    }
    _ = transport
}

// Where the protocol is another module's, the conformance is `@retroactive`.
extension FeathersApp: ServiceLifecycle.Service {}

#if os(Linux)
    private func connections(_ url: URL, _ companyCertificates: URL) throws {
        let client = try CurlHTTPClient(
            tls: TLSConfiguration(trust: .certificates(in: companyCertificates)),
            proxy: .url("http://proxy.example.com:3128", exceptions: ["localhost"]),
            maximumConnectionsPerHost: 256, maximumWaitingRequestsPerHost: 2_000,
            idleTimeout: .seconds(10), maximumConnectionAge: .seconds(60))
        let app = FeathersApp(transport: .rest(url, httpClient: client))
        _ = app
    }
#endif
