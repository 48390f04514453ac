import Feathers
import Foundation
import TestBackend
import Testing

/// Several nodes of one application, which share their records and tell each other their events by way of Redis.
struct Nodes: Sendable {
    let nodes: [TestBackend]
    /// The way to whichever node takes a connection.
    let balancer: FaultProxy
    private let redis: RedisServer

    init(_ count: Int) async throws {
        let redis = try RedisServer()
        self.redis = redis
        nodes = (0..<count).map { _ in TestBackend(variables: ["REDIS_URL": redis.url]) }
        var urls: [URL] = []
        for node in nodes { urls.append(try await node.url()) }
        // In the process of another server, which outlives them.
        balancer = try await FaultProxy.balancing(urls)
    }

    /// Starts a node that was killed again, at the same address.
    func restarted(_ node: Int) async throws -> TestBackend {
        let port = try await nodes[node].url().port ?? 0
        let again = TestBackend(variables: ["REDIS_URL": redis.url, "PORT": "\(port)"])
        #expect(try await again.url().port == port)
        return again
    }

    /// An app whose connection is to one node.
    func app(on node: Int) async throws -> FeathersApp {
        FeathersApp(transport: Self.transport(try await nodes[node].url()))
    }

    /// An app whose connection is to any node. Polling would need a balancer that leads each session to its own node.
    func app() -> FeathersApp {
        FeathersApp(transport: Self.transport(balancer.url))
    }

    private static func transport(_ url: URL) -> SocketIOTransport {
        .socketIO(url) {
            $0.transports = [.webSocket]
            $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(200))
            $0.callTimeout = .seconds(30)
        }
    }
}
