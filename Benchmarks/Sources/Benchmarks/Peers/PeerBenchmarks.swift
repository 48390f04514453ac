import CFloor
import Feathers
import Foundation

/// The same tasks with this client and with other libraries, each in its own process, on the same servers.
struct PeerBenchmarks {
    /// The name of this client among its peers.
    static let ours = "feathers-swift"

    private(set) var groups: [BenchmarkGroup] = []
    /// The peers that are skipped, with the reasons.
    private(set) var skipped: [String] = []

    init() async throws {
        let (http, socket) = (try ServerProcess(.http), try ServerProcess(.socket))
        try addREST(http)
        try await addSocketIO(socket)
        try addStreams(try ServerProcess(.stream))
    }

    static func name(_ task: String) -> String { "side by side: \(task)" }

    private mutating func addREST(_ server: ServerProcess) throws {
        let url = try server.url
        let service = FeathersApp(transport: .rest(url)).service("messages")
        let peers = start([("aiohttp", .python, "rest_client.py"), ("Node's fetch", .node, "rest_client.js")], url)
        add("REST get, one at a time", operations: 512, "one_at_a_time", peers) {
            for _ in 0..<512 { _ = try await service.get(1) }
            // Keeps the server alive: it ends with its last reference.
            withExtendedLifetime(server) {}
        }
        add("REST get, 64 in flight", operations: 1_024, "in_flight", peers) {
            try await concurrently(64, each: 16) { _ = try await service.get(1) }
        }
    }

    private mutating func addSocketIO(_ server: ServerProcess) async throws {
        let url = try server.url
        let app = FeathersApp(transport: .socketIO(url) { $0.transports = [.webSocket] })
        try await app.connect()
        let (messages, echo) = (app.service("messages"), app.service("echo"))
        let peers = start(
            [
                ("python-socketio", .python, "socketio_client.py"), ("aiohttp", .python, "aiohttp_socket_client.py"),
                ("Node, hand-written WebSocket", .node, "socket_client.js"),
            ], url)
        add("Socket.IO get, one at a time", operations: 2_000, "one_at_a_time", peers) {
            for _ in 0..<2_000 { _ = try await messages.get(1) }
            withExtendedLifetime(server) {}
        }
        add("Socket.IO get, 64 in flight", operations: 6_400, "in_flight", peers) {
            try await concurrently(64, each: 100) { _ = try await messages.get(1) }
        }
        for (task, what, pattern) in [
            ("Socket.IO events received, one write each", "events", LoopbackSocketServer.EventPattern.paced),
            ("Socket.IO events received, 64 a write", "bundles", .bundle),
        ] {
            let source = app.service(pattern.rawValue)
            add(task, operations: 10_000, what, peers) {
                let events = messages.events(.created, bufferingNewest: 20_000)
                async let answered: Void = { _ = try await source.create(10_000) }()
                var count = 0
                for await _ in events {
                    count += 1
                    if count == 10_000 { break }
                }
                try await answered
            }
        }
        let megabyte = JSONValue.string(String(repeating: "x", count: 1_000_000))
        add("Socket.IO, 1 MB round trip", operations: 10, "large", peers) {
            for _ in 0..<10 { _ = try await echo.create(megabyte) }
        }
    }

    /// Every client parses the JSON of each item or event, and looks at the same member; the one in C only counts them.
    private mutating func addStreams(_ server: ServerProcess) throws {
        let (url, count) = (try server.url, 50_000)
        let tokens = FeathersApp(transport: .feathers6(url)).service("tokens")
        let plain = FeathersApp(transport: .rest(url))
        let peers = start([("Node's fetch", .node, "stream_client.js")], url)
        for (how, prefix, pattern) in [("32 a write", "", "burst"), ("one write each", "paced_", "paced")] {
            let read: @Sendable (FeathersApp) async throws -> Void = { app in
                var seen = 0
                for try await item in app.service("tokens").stream(
                    .find, query: ["count": .integer(Int64(count)), "pattern": .string(pattern)])
                {
                    seen += item["n"] == 1234 ? 1 : 0
                }
                guard seen == count else { throw CocoaError(.fileReadCorruptFile) }
                withExtendedLifetime(server) {}
            }
            add("items of a streamed result, \(how)", operations: count, prefix + "items", peers) {
                try await read(tokens.app)
            }
            addFloor("/tokens?count=\(count)&pattern=\(pattern)", count, server)
            add("events of an event stream, \(how)", operations: count, prefix + "events", peers) {
                let query: Query<JSONValue> = ["count": .integer(Int64(count)), "pattern": .string(pattern)]
                let app = FeathersApp(transport: .feathers6(url) { $0.query = query })
                let events = app.service("messages").events(.created, bufferingNewest: 2 * count)
                try await withFeathersApp(app) { _ in
                    var seen = 0
                    for await event in events {
                        seen += event["id"] == 1234 ? 1 : 0
                        if seen == count { break }
                    }
                }
            }
            addFloor("/sse?count=\(count)&pattern=\(pattern)", count + 1, server)
            add("events of an event source, \(how)", operations: count, prefix + "events", peers) {
                // The stream begins with a greeting.
                var (seen, all) = (0, -1)
                let query: Query<JSONValue> = ["count": .integer(Int64(count)), "pattern": .string(pattern)]
                for try await event in plain.eventSource("sse", as: JSONValue.self, query: query) {
                    seen +=
                        event["event"] == "created" && event["path"] == "messages" && event["data"]?["id"] == 1234
                        ? 1 : 0
                    all += 1
                    if all == count { break }
                }
                guard seen == count else { throw CocoaError(.fileReadCorruptFile) }
            }
        }
        // The end of each stream is read too, but only the wait for its first item counts. The CPU is that of the whole
        // call.
        let readFirst: @Sendable (FeathersApp) async throws -> Cost = { app in
            let (tokens, before) = (app.service("tokens"), Cost.now())
            var waited = Duration.zero
            for _ in 0..<200 {
                let start = ContinuousClock.now
                for try await _ in tokens.stream(.find, query: ["count": 1]) { waited += .now - start }
            }
            return Cost(elapsed: waited, cpu: (Cost.now() - before).cpu)
        }
        var first = BenchmarkGroup(Self.name("first item of a streamed result"))
        first.addMeasured(Self.ours, operations: 200, comparedWith: nil) { try await readFirst(tokens.app) }
        for peer in peers {
            first.addMeasured(peer.name, operations: 200, comparedWith: Self.ours) {
                try peer.process.run("first_item", 200)
            }
        }
        groups.append(first)
    }

    /// Adds a client in C that only counts events to the last task: what the kernel costs.
    private mutating func addFloor(_ path: String, _ events: Int, _ server: ServerProcess) {
        #if os(Linux)
            groups[groups.count - 1].add("C, events counted only", operations: events, comparedWith: Self.ours) {
                guard cfloor_stream(server.port, path, Int32(events)) == 1 else {
                    throw CocoaError(.fileReadCorruptFile)
                }
            }
        #endif
    }

    /// Adds a task, with this client's implementation in `body` and the name `what` that peers use for it.
    private mutating func add(
        _ task: String, operations: Int, _ what: String, _ peers: [(name: String, process: PeerProcess)],
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        var group = BenchmarkGroup(Self.name(task))
        group.add(Self.ours, operations: operations, body)
        for peer in peers {
            group.addMeasured(peer.name, operations: operations, comparedWith: Self.ours) {
                try peer.process.run(what, operations)
            }
        }
        groups.append(group)
    }

    private mutating func start(_ peers: [(String, PeerLanguage, String)], _ url: URL) -> [(
        name: String, process: PeerProcess
    )] {
        peers.compactMap { name, language, script in
            do {
                return (name, try PeerProcess(language, script: script, url: url))
            } catch {
                skipped.append("\(name) (\(error))")
                return nil
            }
        }
    }
}
