import FeathersCore

/// The records that queued writes create, by the ids under which they are shown until the server has assigned one.
struct ProvisionalRecords: Sendable {
    struct Known: Sendable {
        /// The id to send: the provisional one until the server has assigned another.
        var id: ServiceID
        /// The lane of the write that creates the record.
        let lane: String
        /// The user who queued that write. Another user's writes cannot share its lane.
        let identity: Identity?
        /// Whether the server has assigned the id.
        var isAssigned = false
    }

    private var records: [String: Known] = [:]

    /// The record that is known by an id: by the provisional one as text or as a number, or by the server's.
    subscript(id: ServiceID, path: String) -> Known? { records.isEmpty ? nil : records[Self.key(id, path)] }

    mutating func add(_ write: OutboxWrite) {
        guard write.method == .create, write.data?.array == nil else { return }
        set(Known(id: .string(write.provisionalKey()), lane: write.lane, identity: write.identity), for: write)
    }

    /// Returns the id that the server has assigned to the record of an executed write; nil if it kept the given one.
    func made(by write: OutboxWrite, _ result: JSONValue) -> ServiceID? {
        guard write.method == .create, self[.string(write.provisionalKey()), write.path] != nil else { return nil }
        let id = (result["id"] ?? result["_id"]).flatMap { ServiceID($0) }
        return id?.description == write.provisionalKey() ? nil : id
    }

    /// Records the id that the server has assigned.
    mutating func rename(_ write: OutboxWrite, to id: ServiceID) {
        // Screens show provisional ids for a short time only. Those of queued writes stay.
        if records.count > 10_000 { records = records.filter { !$0.value.isAssigned } }
        let known = Known(id: id, lane: write.lane, identity: write.identity, isAssigned: true)
        set(known, for: write)
        records[Self.key(id, write.path)] = known
    }

    private mutating func set(_ known: Known, for write: OutboxWrite) {
        let text = write.provisionalKey()
        records[Self.key(.string(text), write.path)] = known
        if let number = ServiceID(.provisionalNumber(for: text)) { records[Self.key(number, write.path)] = known }
    }

    private static func key(_ id: ServiceID, _ path: String) -> String { "\(path)#\(id)" }
}

// MARK: - Live queries

extension Outbox {
    /// Shows the pending writes of a service in a live query, from now on.
    func attach(_ feed: LiveFeed, at path: String) {
        withState { state in
            state.feeds.add(feed, at: path)
            let writes = state.liveWrites(at: path)
            feed.withState { $0.view.replaceWrites(writes) }
        }
    }
}

extension Outbox.State {
    mutating func add(_ write: OutboxWrite) {
        var write = write
        // The server may have assigned the id while the write was on its way to the disk.
        if let id = write.recordID, let known = provisional[id, write.path] { write.recordID = known.id }
        queue.add(write)
        provisional.add(write)
        guard write.belongs(to: queue.identity), let number = queue.items[write.id]?.number else { return }
        publish(.queued(write, number: number), at: write.path)
    }

    /// Replaces the provisional id of a created record in the writes that follow.
    mutating func rename(_ write: OutboxWrite, to id: ServiceID) {
        provisional.rename(write, to: id)
        for changed in queue.rename(write.provisionalKey(), to: id) {
            publish(.changed(changed, queue.items[changed.id]?.failure, isSending: false), at: changed.path)
        }
    }

    /// Returns how a record is known that a queued write creates, or has created.
    func known(_ id: ServiceID, at path: String) -> ProvisionalRecords.Known? {
        if let known = provisional[id, path] { return known }
        return feeds.provisionalKey(of: id.description, at: path).flatMap { provisional[.string($0), path] }
    }

    /// Shows the writes of the signed-in user in all live queries.
    mutating func republish() {
        for path in feeds.paths {
            let writes = liveWrites(at: path)
            feeds.publish(at: path) { $0.view.replaceWrites(writes) }
        }
    }

    fileprivate func liveWrites(at path: String) -> [OutboxQueue.Item] { queue.own.filter { $0.write.path == path } }
}
