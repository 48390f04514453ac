import Feathers
import FeathersTesting
import Testing

@Suite("The health of an app with two transports", .timeLimit(.minutes(10)))
struct MixedHealthTests {
    private static let away = FeathersError(.unavailable, "Away", execution: .neverSent)

    @Test("is ready without the connection of its events if calls go over REST, and says so")
    func events() async throws {
        let ways = StubbedWays { $0.standard = .rest }
        try await withFeathersApp(ways.app) { app in
            for await status in app.connectionStatusUpdates() { if case .connected = status { break } }
            ways.socket.drop(.pingTimeout)
            _ = try await app.service("messages").get(1)
            let health = app.health
            #expect(health.isReady && health.reason.contains("no events"))
            #expect(health.transports.map(\.kind) == [.connection, .requests])
            #expect(health.transports.map(\.isReachable) == [false, true])
            #expect(health.transports[0].lastFailure?.reason == "ping timeout")
            #expect(health.transports[1].lastFailure == nil)
        }
    }

    @Test("is not ready without the connection if calls use it")
    func calls() async throws {
        let ways = StubbedWays { $0["reports"] = .rest }
        try await withFeathersApp(ways.app) { app in
            for await status in app.connectionStatusUpdates() { if case .connected = status { break } }
            ways.socket.drop(.pingTimeout)
            for await health in app.healthUpdates() where health.state == .reconnecting { break }
            #expect(!app.health.isReady)
        }
    }

    @Test("is not ready if REST misses the server, although the connection is open")
    func requests() async throws {
        let ways = StubbedWays { $0.standard = .rest }
        ways.rest.stub("messages", .find, with: .cycle([.error(Self.away), .value([])]))
        try await withFeathersApp(ways.app) { app in
            for await status in app.connectionStatusUpdates() { if case .connected = status { break } }
            _ = try? await app.service("messages").find()
            let health = app.health
            #expect(health.state == .unreachable && health.transports.map(\.isReachable) == [true, false])
            #expect(health.transports[1].lastFailure?.reason == "Unavailable: Away")
            _ = try await app.service("messages").find()
            #expect(app.health.isReady && app.health.transports[1].lastFailure != nil)
        }
    }
}
