import FeathersCore
import FeathersSupport
import Foundation

extension Outbox {
    /// Records an event: in the file, and then, in one step, in the queue, the names and the live queries.
    ///
    /// Facts, such as a response of the server, are recorded in memory even if the file does not accept them. A later
    /// process then sends the write again with its key, or asks for a decision.
    /// - Parameter outcomes: The promises that queued writes settle when they end.
    /// - Throws: ``FeathersError`` naming the file if the event is not a fact and was not stored.
    func recordEvent(_ event: WriteEvent, _ outcomes: [UUID: Promise<JSONValue>] = [:]) async throws {
        let apply: @Sendable (Int) -> Void = { [outboxOptions, timebase] change in
            self.changeState { state in
                state.results.merge(outcomes) { _, new in new }
                state.apply(event, storedAs: change, outboxOptions, at: timebase.now)
            }
        }
        do {
            try await journal.append(event, onDurable: apply)
        } catch {
            guard event.isFact else { throw error }
            apply(0)
        }
        withState { $0.app }?.app?.diagnostics.log(.debug, .outbox, event.text)
    }
}

extension WriteEvent {
    /// The event without data, for logs.
    fileprivate var text: String {
        switch self {
        case .queued(let writes): "queued " + writes.map { "\($0.method) \($0.path)" }.joined(separator: ", ")
        case .migrated(let writes): "\(writes.count) writes were migrated"
        case .taken: "writes were taken over by the user who signed in"
        case .begun(let id): "sending \(id.text)"
        case .deferred(let id, _, _): "\(id.text) is sent again later"
        case .failed(let failure): "\(failure.write.id.text) needs a decision"
        case .decided(let id, _): "\(id.text) was decided"
        case .ended(let end): "\(end.write.text) \(end.isExecuted ? "was executed" : "was discarded")"
        }
    }
}

extension Outbox.State {
    /// Applies an event.
    /// - Parameter change: The number of the change that has stored the records of an executed write; otherwise 0.
    mutating func apply(
        _ event: WriteEvent, storedAs change: Int = 0, _ options: OutboxOptions, at now: Duration
    ) {
        switch event {
        case .queued(let writes): add(writes, options)
        // Happens while the outbox opens.
        case .migrated: break
        case .taken(let identity): queue.take(for: identity)
        case .begun(let id):
            guard let item = queue.items[id] else { return }
            stores.forEach(showing: item.write) { $0.begun(id, isRepeated: item.execution == .mayHaveExecuted) }
        case .deferred(let id, let course, let execution):
            queue.deferred(id, course, execution, at: now, random: .random(in: 0..<1))
            if queue.items[id]?.failure != nil { show(id) }
        case .failed(let failure):
            queue.failed(failure)
            show(failure.write.id)
        case .decided(let id, let replacement):
            queue.decided(id, replacement)
            show(id)
        case .ended(let end): self.end(end, storedAs: change, options)
        }
    }

    /// Queues writes. Live queries show them in one step.
    private mutating func add(_ writes: [OutboxWrite], _ options: OutboxOptions) {
        var added: [OutboxQueue.Item] = []
        for write in writes {
            // The server may have assigned an id while the write was on its way to the disk.
            let write = names.translated(write)
            queue.add(write)
            names.add(write, options)
            if let item = queue.items[write.id], write.belongs(to: queue.identity) { added.append(item) }
        }
        stores.show(added)
    }

    /// Shows a write as it is now.
    mutating func show(_ id: UUID) { if let item = queue.items[id] { stores.show([item]) } }

    /// Removes a write that has ended, and its dependents. Writes that follow or refer to its records get their ids.
    private mutating func end(_ end: WriteEnd, storedAs change: Int, _ options: OutboxOptions) {
        guard let item = queue.items[end.write] else { return }
        let write = item.write
        let following = queue.references.writes(referringTo: write.id)
        var settled: Result<JSONValue, any Error>
        queue.remove(write.id)
        switch end.outcome {
        case .executed(var result):
            result.change = change
            settled = .success(result.value)
            stores.forEach(showing: write) { store, user in
                // What the server has sent to one user is not shown to another.
                store.respond(to: write.id, result.wasSent(to: user) ? result : nil)
            }
        case .named(let record):
            let known = stores.known(record.key, at: write.path, write.route)
            settled = known.map { .success($0) } ?? .failure(FeathersError(lostResponseOf: record))
            stores.forEach(showing: write) { $0.discarded(write.id, as: record) }
        case .discarded:
            settled = .failure(item.failure?.error ?? FeathersError.discarded)
            stores.forEach(showing: write) { $0.discarded(write.id) }
        }
        settle(write.id, settled)
        for (id, dependence) in end.dependents {
            guard let dependent = queue.items[id]?.write else { continue }
            queue.remove(id)
            stores.forEach(showing: dependent) { $0.discarded(id) }
            names.end(dependent, end.names)
            settle(id, .failure(FeathersError(discardedWith: dependence)))
        }
        name(write, end.names, following, options)
    }

    /// Records the names of the records of a creation that has ended.
    private mutating func name(
        _ write: OutboxWrite, _ ids: [String: Names.Name], _ following: Set<UUID>, _ options: OutboxOptions
    ) {
        guard write.method == .create else { return }
        names.end(write, ids)
        for id in following {
            guard let old = queue.items[id]?.write else { continue }
            let new = names.translated(old)
            guard new != old else { continue }
            queue.rename(new)
            // Its own records are in another place with another route.
            if new.route != old.route, new.method == .create { names.add(new, options) }
            show(id)
        }
        stores.named(names)
    }

    private mutating func settle(_ id: UUID, _ result: Result<JSONValue, any Error>) {
        if let promise = results.removeValue(forKey: id) { settled.append((promise, result)) }
    }
}

extension FeathersError {
    fileprivate static let discarded = FeathersError(
        .gone, "The write was discarded before it was sent", execution: .neverSent)

    fileprivate init(discardedWith dependence: OutboxReferences.Dependence) {
        let message =
            switch dependence {
            case .reference: "The write refers to a record whose creation was discarded"
            case .group: "The write was discarded with an earlier one of its group"
            }
        self.init(.gone, message, execution: .neverSent)
    }

    fileprivate init(lostResponseOf record: ServiceID) {
        self.init(
            .gone, "The write was executed as '\(record)', but its response was lost: read the record",
            execution: .answered)
    }
}
