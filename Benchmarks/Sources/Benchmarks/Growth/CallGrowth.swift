import Feathers
import Foundation

/// Growth with calls and messages: sequential, concurrent and large.
enum CallGrowth {
    static func group() async throws -> GrowthGroup {
        var group = GrowthGroup("calls")
        group.add("sequential in-process calls", from: 200, unit: "call") { count in
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            return GrowthRun(units: 20_000) {
                for _ in 0..<20_000 / count { for _ in 0..<count { _ = try await service.get(1) } }
            }
        }
        group.add(
            "concurrent in-process calls", from: 10, unit: "call",
            note: "the number of instructions is constant, but many tasks outgrow the processor's caches"
        ) { count in
            let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
            return GrowthRun(units: 10_000) {
                for _ in 0..<10_000 / count { try await concurrently(count, each: 1) { _ = try await service.get(1) } }
            }
        }
        let http = try ServerProcess(.http)
        let rest = FeathersApp(transport: .rest(try http.url)).service("messages")
        group.add("concurrent REST calls", from: 1, unit: "call") { count in
            GrowthRun(units: 400) {
                for _ in 0..<400 / count { try await concurrently(count, each: 1) { _ = try await rest.get(1) } }
                withExtendedLifetime(http) {}
            }
        }
        try await addSocketIO(to: &group)
        return group
    }

    private static func addSocketIO(to group: inout GrowthGroup) async throws {
        let server = try ServerProcess(.socket)
        let app = FeathersApp(transport: .socketIO(try server.url) { $0.transports = [.webSocket] })
        try await app.connect()
        let (messages, burst, echo) = (app.service("messages"), app.service("burst"), app.service("echo"))
        group.add("concurrent Socket.IO calls", from: 10, unit: "call") { count in
            GrowthRun(units: 4_000) {
                for _ in 0..<4_000 / count { try await concurrently(count, each: 1) { _ = try await messages.get(1) } }
                withExtendedLifetime(server) {}
            }
        }
        group.add("Socket.IO events in a burst", from: 100, unit: "event") { count in
            GrowthRun(units: 10_000) {
                let events = messages.events(.created, bufferingNewest: count)
                var iterator = events.makeAsyncIterator()
                for _ in 0..<10_000 / count {
                    async let answered: Void = { _ = try await burst.create(.integer(Int64(count))) }()
                    for _ in 0..<count { _ = await iterator.next() }
                    try await answered
                }
            }
        }
        group.add("Socket.IO message size in KB", from: 10, unit: "KB") { kilobytes in
            let payload = JSONValue.string(String(repeating: "x", count: kilobytes * 1000))
            return GrowthRun(units: 4_000) {
                for _ in 0..<4_000 / kilobytes { _ = try await echo.create(payload) }
            }
        }
    }
}
