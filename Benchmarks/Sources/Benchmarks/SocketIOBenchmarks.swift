import Feathers
import Foundation
import Synchronization

/// Calls and events over Socket.IO against the bare WebSocket connection and against python-socketio's client, on the same server.
enum SocketIOBenchmarks {
    /// Where the server is, and whoever is measured against it.
    private struct Parties {
        let server: ServerProcess
        let app: FeathersApp
        let service: Service
        let bare: BareCaller
        let peer: PeerProcess?
    }

    static func group() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("Socket.IO")
        let server = try ServerProcess(.socket)
        guard let url = URL(string: "http://127.0.0.1:\(server.port)") else { throw URLError(.badURL) }
        let app = FeathersApp(transport: .socketIO(url) { $0.transports = [.webSocket] })
        try await app.connect()
        let parties = Parties(
            server: server, app: app, service: app.service("messages"), bare: try await BareCaller(url),
            peer: try PeerProcess.python.map { try PeerProcess(python: $0, script: "socketio_client.py", arguments: [url.absoluteString]) })
        addCalls(to: &group, parties)
        addEvents(to: &group, parties)
        return group
    }

    private static func addCalls(to group: inout BenchmarkGroup, _ parties: Parties) {
        let (service, bare, peer) = (parties.service, parties.bare, parties.peer)
        let call = #"["get","messages",1,{}]"#
        group.add("bare WebSocket, one at a time", operations: 2_000) {
            for _ in 0..<2_000 { try await bare.call(call) }
            // Held by whoever uses it: a server ends with its last mention.
            withExtendedLifetime(parties.server) {}
        }
        if let peer {
            group.addPeer("python-socketio, one at a time", operations: 2_000) { try peer.run("one_at_a_time", 2_000) }
        }
        for reference in ["bare WebSocket"] + (peer == nil ? [] : ["python-socketio"]) {
            group.add("one at a time (to \(reference))", operations: 2_000, comparedWith: "\(reference), one at a time") {
                for _ in 0..<2_000 { _ = try await service.get(1) }
            }
        }
        group.add("bare WebSocket, 64 in flight", operations: 12_800) {
            try await concurrently(64, each: 200) { try await bare.call(call) }
        }
        if let peer {
            group.addPeer("python-socketio, 64 in flight", operations: 12_800) { try peer.run("in_flight", 12_800) }
        }
        for reference in ["bare WebSocket"] + (peer == nil ? [] : ["python-socketio"]) {
            group.add("64 in flight (to \(reference))", operations: 12_800, comparedWith: "\(reference), 64 in flight") {
                try await concurrently(64, each: 200) { _ = try await service.get(1) }
            }
        }
    }

    private static func addEvents(to group: inout BenchmarkGroup, _ parties: Parties) {
        let (app, service, peer) = (parties.app, parties.service, parties.peer)
        let burst = app.service("burst")
        let echo = app.service("echo")
        if let peer {
            group.addPeer("python-socketio, events", operations: 10_000) { try peer.run("events", 10_000) }
            group.addPeer("python-socketio, 1 MB there and back", operations: 10) { try peer.run("large", 10) }
        }
        group.add("events", operations: 10_000, comparedWith: peer.map { _ in "python-socketio, events" }) {
            let events = service.events(.created, buffering: 20_000)
            async let answered: Void = { _ = try await burst.create(10_000) }()
            var count = 0
            for await _ in events {
                count += 1
                if count == 10_000 { break }
            }
            try await answered
        }
        let megabyte = JSONValue.string(String(repeating: "x", count: 1_000_000))
        group.add("1 MB there and back", operations: 10, comparedWith: peer.map { _ in "python-socketio, 1 MB there and back" }) {
            for _ in 0..<10 { _ = try await echo.create(megabyte) }
        }
    }

    /// What is no benchmark: percentiles, and the memory of idle connections.
    static func notes() async throws -> [String] {
        let server = try ServerProcess(.socket)
        guard let url = URL(string: "http://127.0.0.1:\(server.port)") else { throw URLError(.badURL) }
        let app = FeathersApp(transport: .socketIO(url) { $0.transports = [.webSocket] })
        try await app.connect()
        let service = app.service("messages")
        var latencies: [Duration] = []
        for _ in 0..<5_000 {
            let start = ContinuousClock.now
            _ = try await service.get(1)
            latencies.append(start.duration(to: .now))
        }
        latencies.sort()
        let (median, slow) = (latencies[2_500] / .microseconds(1), latencies[4_950] / .microseconds(1))

        let before = residentBytes()
        let apps = try await withThrowingTaskGroup(of: FeathersApp.self) { group in
            for _ in 0..<1_000 {
                group.addTask {
                    let app = FeathersApp(transport: .socketIO(url) { $0.transports = [.webSocket] })
                    try await app.connect()
                    return app
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let kilobytes = Double(residentBytes() - before) / 1_000 / 1_024
        for app in apps { await app.disconnect() }
        await app.disconnect()
        return [
            String(format: "Socket.IO, one call at a time: p50 %.0f µs, p99 %.0f µs", median, slow),
            String(format: "Socket.IO, 1,000 idle connections: %.1f KB of memory each", kilobytes),
        ]
    }

    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
    }
}
