import Feathers
import Foundation

/// Growth with the writes in an outbox: queued on disk without a connection, restored by a new process, and sent.
enum OutboxGrowth {
    static func group() -> GrowthGroup {
        var group = GrowthGroup("queued writes")
        group.add("writes queued, restored and sent", from: 1_000, unit: "write") { count in
            GrowthRun(units: count) {
                let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: folder) }
                let file = folder.appending(path: "writes.outbox")
                let queue = try await Outbox(file: file)
                let offline = FeathersApp()
                try offline.use(outbox: queue)
                let messages = try await offline.use(Growth.TrivialService(), at: "messages").outbox
                // Writes that wait for the disk together share its flush.
                try await concurrently(1_000, each: count / 1_000) { _ = try await messages.create(["text": "Hello"]) }
                await queue.close()

                let outbox = try await Outbox(file: file) { $0.concurrentLanes = 1_000 }
                let app = FeathersApp()
                try app.use(outbox: outbox)
                _ = try await app.use(Growth.TrivialService(), at: "messages")
                try await withFeathersApp(app) { _ in
                    for entry in outbox.state.entries { _ = try? await outbox.result(of: entry.id) }
                }
                await outbox.close()
            }
        }
        return group
    }
}
