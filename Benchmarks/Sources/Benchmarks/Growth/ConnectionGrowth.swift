import Feathers
import Foundation

/// Growth with the connections of one process, opened and closed.
enum ConnectionGrowth {
    static func group() throws -> GrowthGroup {
        var group = GrowthGroup("connections")
        let server = try ServerProcess(.socket)
        group.add("Socket.IO connections at once", from: 100, unit: "connection") { count in
            GrowthRun(units: count) {
                let idle = try await IdleConnections<FeathersApp>.open(count, to: try server.url)
                await idle.close()
                withExtendedLifetime(server) {}
            }
        }
        group.add("calls over as many connections", from: 100, unit: "call") { count in
            // Opened once, and open until the last round: the calls are measured, not the opening.
            let idle = try await IdleConnections<FeathersApp>.open(count, to: try server.url)
            return GrowthRun(units: 10_000) { try await idle.call(times: 10_000) }
        }
        return group
    }
}
