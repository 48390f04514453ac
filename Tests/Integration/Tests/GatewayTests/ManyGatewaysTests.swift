import AsyncHTTPClient
import Feathers
import Foundation
import Synchronization
import TestBackend
import Testing

@testable import Gateway

@Suite(
    "Several gateways in front of several nodes", .serialized, .inTurn, .timeLimit(.minutes(10)),
    .enabled(
        if: !TestBackend.isSkipped && RedisServer.isInstalled,
        "needs redis-server (Debian: apt-get install redis-server)"))
struct ManyGatewaysTests {
    private func token(from node: URL) async throws -> String {
        let app = FeathersApp(transport: .rest(node))
        try app.use(authentication: AuthenticationOptions())
        return try await app.authenticate(.local(email: "alice@example.com", password: "p4ssw0rd")).accessToken
    }

    @Test("answer from their caches until the event of a change arrives, whichever gateway wrote", arguments: [0, 1])
    func caches(writer: Int) async throws {
        let nodes = try await Nodes(2)
        let urls = [try await nodes.nodes[0].url(), try await nodes.nodes[1].url()]
        let token = try await token(from: urls[0])
        let gateways = [
            try await RunningGateway(over: urls[0], rest: urls[0]),
            try await RunningGateway(over: urls[1], rest: urls[1]),
        ]
        let browsers = gateways.map { Browser(port: $0.port) }
        let created = try await browsers[0].send("POST", "/messages", token: token, json: #"{"text":"before"}"#)
        let id = try #require(try JSONValue(parsing: created.text)["id"]?.integer)
        func text(_ gateway: Int) async throws -> String? {
            try JSONValue(parsing: try await browsers[gateway].send("GET", "/messages/\(id)", token: token).text)[
                "text"]?
                .string
        }
        for gateway in [0, 1] { #expect(try await text(gateway) == "before") }
        var changes: [AsyncStream<JSONValue>.Iterator] = []
        for gateway in gateways {
            changes.append(
                await gateway.app.asOwnUser { gateway.app.service("messages").events(.patched).makeAsyncIterator() })
        }
        _ = try await gateways[writer].app.withToken(token) {
            try await gateways[writer].app.service("messages").patch(id, with: ["text": "after"])
        }
        for gateway in [0, 1] {
            #expect(await changes[gateway].next(isolation: #isolation)?["text"] == "after")
            #expect(try await text(gateway) == "after")
        }
        for gateway in gateways { await gateway.kill() }
    }

    @Test("lose a gateway and a node: their readers are told of a gap, move, and go on")
    func fanOut() async throws {
        let nodes = try await Nodes(2)
        let token = try await token(from: nodes.balancer.url)
        let count = ProcessInfo.processInfo.environment["FEATHERS_LONG"] == nil ? 50 : 1_000
        var gateways: [RunningGateway] = []
        /// A gateway whose first connection is to a node, and the next one to any that is left.
        func gateway(on node: Int) async throws -> RunningGateway {
            let urls = [try await nodes.nodes[1 - node].url(), try await nodes.nodes[node].url()]
            let line = try await FaultProxy.balancing(urls)
            return try await RunningGateway(over: line.url, rest: nodes.balancer.url)
        }
        for node in 0..<2 { gateways.append(try await gateway(on: node)) }
        let ports = Mutex(gateways.map(\.port))
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 2 * count
        let client = AsyncHTTPClient.HTTPClient(configuration: configuration)
        let readers = (0..<2 * count).map { number in
            EventReader(client: client) { ports.withLock { $0[number % $0.count] } }
        }
        let writer = gateways[1].app
        func write(_ text: String) async throws {
            try await writer.withToken(token) {
                _ = try await writer.service("messages").create(["text": .string(text)])
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in readers { group.addTask { try await reader.run() } }
            for reader in readers { try await reader.reaches { $0.openings == 1 } }
            for number in 1...20 { try await write("\(number)") }
            for reader in readers { try await reader.reaches { $0.texts.count == 20 } }
            #expect(readers.allSatisfy { $0.log.texts == (1...20).map(String.init) && $0.log.gaps == 0 })

            // The readers of the gateway that is gone come to the other one.
            ports.withLock { $0 = [$0[1]] }
            await gateways[0].kill()
            for reader in readers.enumerated().filter({ $0.offset % 2 == 0 }).map(\.element) {
                try await reader.reaches { $0.openings == 2 && $0.gaps == 1 }
            }
            try await write("with one gateway")
            for reader in readers { try await reader.reaches { $0.texts.last == "with one gateway" } }

            // Another gateway begins, and the node of the one with all readers ends.
            gateways[0] = try await gateway(on: 0)
            let late = EventReader(client: client) { [port = gateways[0].port] in port }
            group.addTask { try await late.run() }
            try await late.reaches { $0.openings == 1 }
            let gaps = readers.map(\.log.gaps)
            try await nodes.nodes[1].kill()
            for (reader, before) in zip(readers, gaps) { try await reader.reaches { $0.gaps == before + 1 } }
            let left = FeathersApp(transport: .rest(try await nodes.nodes[0].url()))
            _ = try await left.service("messages").create(["text": "with one node"])
            for reader in readers + [late] { try await reader.reaches { $0.texts.last == "with one node" } }
            #expect(late.log.gaps == 0 && readers.allSatisfy { $0.log.texts.count == 22 })

            // The node comes back, and the one with both gateways ends.
            let back = try await nodes.restarted(1)
            let again = (readers + [late]).map(\.log.gaps)
            try await nodes.nodes[0].kill()
            for (reader, before) in zip(readers + [late], again) {
                try await reader.reaches { $0.gaps == before + 1 }
            }
            let node = FeathersApp(transport: .rest(try await back.url()))
            _ = try await node.service("messages").create(["text": "with the node that came back"])
            for reader in readers + [late] {
                try await reader.reaches { $0.texts.last == "with the node that came back" }
            }
            #expect(late.log.gaps == 1 && readers.allSatisfy { $0.log.texts.count == 23 })

            for reader in readers + [late] { reader.stop() }
            try await group.waitForAll()
        }
        for gateway in gateways { await gateway.kill() }
        try await client.shutdown()
    }
}
