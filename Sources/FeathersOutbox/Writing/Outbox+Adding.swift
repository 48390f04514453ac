import FeathersCore
import FeathersSupport
import Foundation

extension Outbox {
    /// What is handed in: a call, and what it stands in line with.
    struct Draft: Sendable {
        var method: ServiceMethod
        var recordID: ServiceID?
        var data: JSONValue?
        var query = Query()
        var route: [String: String] = [:]
        /// The record whose writes it is sent among, where it is not the one of `recordID`.
        var neighbour: ServiceID?
    }

    /// Takes a write in.
    /// - Returns: once it is on the disk.
    /// - Throws: ``FeathersError`` saying why it is not in the outbox.
    func add(_ draft: Draft, path: String) async throws -> QueuedWrite<JSONValue> {
        let id = UUID()
        var draft = draft
        if draft.method == .create, let property = options.service(at: path).recordIDProperty, draft.data?.object != nil {
            if draft.data?[property] == nil { draft.data?[property] = .string(id.text) }
            draft.neighbour = draft.data?[property].flatMap { ServiceID($0) }
        }
        let write = OutboxWrite(
            id: id, key: id, path: path, method: draft.method, recordID: draft.recordID, data: draft.data, query: draft.query,
            route: draft.route, date: Date(), lane: draft.lane(id, path))
        let result = Promise<JSONValue>()
        try await journal.append(.added(write)) {
            self.change { state in
                state.results[id] = result
                state.queue.add(write)
            }
        }
        return QueuedWrite(write: write, outcome: result) { $0 }
    }
}

extension Outbox.Draft {
    /// A record's lane, whether its id is written as a number or as a string; without a record one of the write's own.
    fileprivate func lane(_ id: UUID, _ path: String) -> String {
        guard let record = neighbour ?? recordID else { return "#\(id.text)" }
        let places = route.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)&" }.joined()
        return "\(path)?\(places)#\(record)"
    }
}
