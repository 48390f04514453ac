import Feathers
import Foundation
import Synchronization

/// Calls over Socket.IO, compared with a bare WebSocket connection to the same server.
enum SocketIOBenchmarks {
    static let name = "Socket.IO get"

    static func group() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup(name)
        let server = try ServerProcess(.socket)
        let url = try server.url
        let app = FeathersApp(transport: .socketIO(url) { $0.transports = [.webSocket] })
        try await app.connect()
        let (service, bare) = (app.service("messages"), try await BareCaller(url))
        let call = #"["get","messages",1,{}]"#
        group.add("bare WebSocket, one at a time", operations: 2_000) {
            for _ in 0..<2_000 { try await bare.call(call) }
            // Keeps the server alive: it ends with its last reference.
            withExtendedLifetime(server) {}
        }
        group.add("one at a time", operations: 2_000, comparedWith: "bare WebSocket, one at a time") {
            for _ in 0..<2_000 { _ = try await service.get(1) }
        }
        group.add("bare WebSocket, 64 in flight", operations: 12_800) {
            try await concurrently(64, each: 200) { try await bare.call(call) }
        }
        group.add("64 in flight", operations: 12_800, comparedWith: "bare WebSocket, 64 in flight") {
            try await concurrently(64, each: 200) { _ = try await service.get(1) }
        }
        return group
    }

    /// Returns results that aren't benchmarks: percentiles, and the memory of idle connections.
    static func notes() async throws -> [String] {
        let server = try ServerProcess(.socket)
        let url = try server.url
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

        let idle = try await IdleConnections<FeathersApp>.open(1_000, to: url)
        await idle.close()
        await app.disconnect()
        return [
            String(format: "Socket.IO, one call at a time: p50 %.0f µs, p99 %.0f µs", median, slow),
            "Socket.IO, \(idle)",
        ]
    }
}
