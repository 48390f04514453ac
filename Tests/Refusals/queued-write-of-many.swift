// expect: A write to several records cannot be queued: queue a write for each record
// article: LocalFirst.md
import Feathers

func archive(_ notes: Service<JSONValue>, _ id: Int) async throws {
    // fix: try await notes.outbox.patch(id, with: ["isArchived": true])
    try await notes.outbox.patchAll(query: .where("isRead", true), with: ["isArchived": true])
}
