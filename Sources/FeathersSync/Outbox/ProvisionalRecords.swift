import FeathersCore
import Foundation

/// The records that queued writes create, by the ids under which they are shown until the server has assigned one.
struct ProvisionalRecords: Sendable {
    struct Known: Sendable {
        /// The id to send: the provisional one until the server has assigned another.
        var id: ServiceID
        /// The lane of the write that creates the record.
        let lane: String
        /// The user whose write that is.
        let identity: Identity?
        /// Whether this is found by a provisional id.
        var isProvisional = false
    }

    private var pending: [String: Known] = [:]
    /// The records whose creation has been executed or discarded. Screens show their provisional ids for a short time
    /// only.
    private var settled = RecentValues<Known>(limit: 10_000)
    /// The ids that the server has assigned, by the forms of the provisional ones.
    private var assigned = RecentValues<JSONValue>(limit: 10_000)

    /// Returns data with the ids that the server has assigned in place of provisional ones.
    func named(_ data: JSONValue) -> JSONValue { data.replacing { assigned[$0.description] } }

    /// The record that is known by an id: by the provisional one as text or as a number, or by the server's.
    subscript(id: ServiceID, path: String, route: [String: String]) -> Known? {
        self[TaggedRecord.key(id, path, route)]
    }

    /// Whether the record's creation is still queued.
    func isQueued(_ id: ServiceID, _ path: String, _ route: [String: String]) -> Bool {
        pending[TaggedRecord.key(id, path, route)] != nil
    }

    private subscript(key: String) -> Known? { pending[key] ?? settled[key] }

    mutating func add(_ write: OutboxWrite) {
        for text in write.provisionalKeys {
            let known = Known(id: .string(text), lane: write.lane, identity: write.identity, isProvisional: true)
            for key in keys(of: text, write) { pending[key] = known }
        }
        // An earlier process queued the write when the record's id was provisional. Later writes to the record must not
        // overtake it.
        guard let id = write.recordID, !write.lane.hasSuffix("#\(id)") else { return }
        let key = TaggedRecord.key(id, write.path, write.route)
        if let known = self[key], known.identity == write.identity { return }
        settled.add([key: Known(id: id, lane: write.lane, identity: write.identity)])
    }

    /// Returns the ids that the server has assigned to the records of an executed write, by the provisional ones,
    /// without those it kept.
    func made(by write: OutboxWrite, _ result: JSONValue) -> [String: ServiceID] {
        ids(of: write, result).filter { text, id in
            id.description != text && self[.string(text), write.path, write.route] != nil
        }
    }

    /// Whether a result says the ids of all records that the write has created.
    func isNamed(_ write: OutboxWrite, by result: JSONValue) -> Bool {
        write.method != .create || ids(of: write, result).count == write.provisionalKeys.count
    }

    private func ids(of write: OutboxWrite, _ result: JSONValue) -> [String: ServiceID] {
        var ids: [String: ServiceID] = [:]
        for (text, record) in zip(write.provisionalKeys, result.array ?? [result]) {
            let id = write.idProperty.map { record[$0] } ?? record["id"] ?? record["_id"]
            ids[text] = id.flatMap { ServiceID($0) }
        }
        return ids
    }

    /// Records the end of a write, with the ids that the server has assigned to its records.
    mutating func settle(_ write: OutboxWrite, _ made: [String: ServiceID]) {
        guard write.method == .create else { return }
        var records: [String: Known] = [:]
        for text in write.provisionalKeys {
            var known = Known(id: made[text] ?? .string(text), lane: write.lane, identity: write.identity)
            if let id = made[text] { records[TaggedRecord.key(id, write.path, write.route)] = known }
            known.isProvisional = true
            for key in keys(of: text, write) {
                pending[key] = nil
                records[key] = known
            }
        }
        settled.add(records)
        assign(made)
    }

    /// Remembers the ids that the server has assigned, by the provisional ones.
    mutating func assign(_ made: [String: ServiceID]) {
        var ids: [String: JSONValue] = [:]
        for (text, id) in made { for form in JSONValue.provisionalForms(of: text) { ids[form.description] = id.json } }
        assigned.add(ids)
    }

    /// Returns the keys of a provisional id, as text and as a number.
    private func keys(of text: String, _ write: OutboxWrite) -> [String] {
        [ServiceID.string(text), ServiceID(.provisionalNumber(for: text))].compactMap(\.self)
            .map { TaggedRecord.key($0, write.path, write.route) }
    }
}

/// The writes to records whose ids are text, by that id, which may be a provisional one. Without it, every `create`
/// that is executed would search all pending writes.
struct FollowingWrites: Sendable {
    private var writes: [String: [UUID]] = [:]

    mutating func add(_ write: OutboxWrite) {
        if let record = Self.record(of: write) { writes[record, default: []].append(write.id) }
    }

    mutating func remove(_ write: OutboxWrite) {
        guard let record = Self.record(of: write) else { return }
        writes[record]?.removeAll { $0 == write.id }
        if writes[record]?.isEmpty == true { writes[record] = nil }
    }

    /// Replaces a provisional id with the one that the server has assigned.
    /// - Returns: The writes to that record, for the caller to change.
    mutating func rename(_ provisional: String, to id: ServiceID) -> [UUID] {
        let renamed = writes.removeValue(forKey: provisional) ?? []
        if case .string(let text) = id, !renamed.isEmpty { writes[text, default: []] += renamed }
        return renamed
    }

    private static func record(of write: OutboxWrite) -> String? {
        guard write.method != .create, case .string(let text) = write.recordID else { return nil }
        return text
    }
}

// MARK: - Live queries

extension Outbox {
    /// Shows the pending writes of a service in a store, from now on.
    func attach(_ store: LiveStore) {
        withState { state in
            state.stores.add(store)
            let items = state.queue.writes(for: store)
            store.withState { $0.store.replaceQueue(items) }
        }
    }
}

extension Outbox.State {
    /// Queues writes. Live queries show them in one step.
    mutating func add(_ writes: [OutboxWrite]) { stores.publish(writes.compactMap { add($0) }) }

    /// - Returns: The change to show; nil if the signed-in user may not see it.
    private mutating func add(_ write: OutboxWrite) -> (change: OutboxChange, write: OutboxWrite)? {
        var write = write
        // The server may have assigned the id while the write was on its way to the disk.
        if let id = write.recordID, let known = provisional[id, write.path, write.route] { write.recordID = known.id }
        write.data = write.data.map(provisional.named)
        queue.add(write)
        provisional.add(write)
        guard write.belongs(to: queue.identity), let number = queue.items[write.id]?.number else { return nil }
        return (.queued(write, number: number), write)
    }

    /// Records the end of a write, and replaces the provisional ids of its records in the writes that follow or refer
    /// to them.
    mutating func settle(_ write: OutboxWrite, _ made: [String: ServiceID], _ data: [UUID: JSONValue]) {
        provisional.settle(write, made)
        for changed in queue.rewrite(data) {
            publish(.changed(changed, queue.items[changed.id]?.failure), of: changed)
        }
        for (text, id) in made {
            for changed in queue.rename(text, to: id) {
                publish(.changed(changed, queue.items[changed.id]?.failure), of: changed)
            }
        }
    }

    /// Returns the ids of a record that a queued write creates or has created.
    func known(_ id: ServiceID, at path: String, _ route: [String: String]) -> ProvisionalRecords.Known? {
        provisional[id, path, route]
    }
}
