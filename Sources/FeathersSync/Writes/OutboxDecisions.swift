import FeathersCore
import FeathersSupport
public import Foundation

/// What is sent instead of a write.
struct Replacement: Sendable {
    let key: UUID
    let data: JSONValue?
    /// The server's record that the data was made for.
    var base: JSONValue?
    /// The tag of that record.
    var tag: String?
}

extension Outbox {
    /// Decides how to proceed with any write that is not being sent.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such write, ``FeathersError/Code/conflict`` while it is
    ///   being sent, ``FeathersError/Code/badRequest`` if it is not a creation of one record that may have been executed
    ///   but the decision is ``OutboxDecision/executed(as:)``, or the reason why the decision could not be recorded. In
    ///   each case, nothing changes.
    public func decide(_ decision: OutboxDecision, for id: UUID) async throws {
        let item = try change { state in
            try state.queue.decisionBegan(id)
            return state.queue.items[id]
        }
        guard let item else { return }
        // Without the record, nothing that refers to it can be executed. If it may exist, its id is known only if the app
        // chose it.
        let mayExist = item.write.method == .create && item.mayHaveExecuted && chosenID(of: item.write) != nil
        var made: [String: ServiceID] = [:]
        let replacement: Replacement?
        var stored: [UUID: OutboxReferences.Dependence] = [:]
        do {
            replacement = try self.replacement(decision, for: item)
            if let data = replacement?.data { try change { try $0.queue.willReplaceData(of: id, with: data) } }
            switch decision {
            case .discard:
                stored = withState { $0.queue.references.dependents(of: id, isGone: !mayExist) }
                let ended = [id] + stored.keys
                let gone = withState { state in
                    ended.flatMap { state.queue.items[$0]?.write.provisionalKeys ?? [] }
                }
                try await journal.append(.ended(id, gone: mayExist ? [] : gone, dependents: Array(stored.keys)))
            case .executed(let record):
                made = try self.made(by: item, as: record)
                try await journal.append(.ended(id, made: made))
            case .retry, .replace, .merge:
                if let new = replacement {
                    try await journal.append(
                        .replaced(id, key: new.key, data: new.data ?? .null, base: new.base, tag: new.tag))
                } else {
                    try await journal.append(.released(id))
                }
            }
        } catch {
            change { $0.queue.decisionFailed(id) }
            throw error
        }
        switch decision {
        case .discard:
            let discarded = FeathersError(.gone, "The write was discarded before it was sent", execution: .neverSent)
            // In one step, so that none of them is sent meanwhile.
            let (result, dependents) = change { [stored] state in
                let dependents = state.queue.references.dependents(of: id, isGone: !mayExist)
                    .merging(stored) { new, _ in new }
                let results = dependents.map { ($0, $1, finish($0, in: &state)) }
                return (finish(id, mayExist: mayExist, in: &state), results)
            }
            result?.fail(item.failure?.error ?? discarded)
            for (_, dependence, result) in dependents { result?.fail(FeathersError(discardedWith: dependence)) }
            // Those that were queued meanwhile are still on disk.
            for (dependent, _, _) in dependents where stored[dependent] == nil {
                try? await journal.append(.ended(dependent), isOwed: true)
            }
        case .executed(let record):
            let known = withState { $0.stores.known(record.key, at: item.write.path, item.write.route) }
            let result = finish(id, made: made, mayExist: true)
            if let known { result?.resolve(known) } else { result?.fail(FeathersError(lostResponseOf: record)) }
        case .retry, .replace, .merge: decided(id, replacement)
        }
    }

    /// Returns the id that the app has named for the record of a creation, by the provisional one.
    /// - Throws: ``FeathersError/Code/badRequest`` if the write cannot have created such a record.
    private func made(by item: OutboxQueue.Item, as record: ServiceID) throws(FeathersError) -> [String: ServiceID] {
        let write = item.write
        let chosen = options.service(at: write.path).recordIDProperty.flatMap { write.data?[$0] }
        let reason: String? =
            if write.method != .create || write.data?.array != nil {
                "it does not create one record"
            } else if !item.mayHaveExecuted {
                "it was not sent"
            } else if let chosen, chosen != record.json {
                "its data has another id"
            } else if chosen == nil,
                withState({ $0.names[record, write.path, write.route]?.isProvisional ?? false })
            {
                "that is a provisional id"
            } else {
                nil
            }
        if let reason {
            throw FeathersError(
                .badRequest, "The write '\(write.id.text)' was not executed as '\(record)': \(reason)",
                execution: .neverSent)
        }
        // An id that the outbox has generated stays the record's own.
        return record.description == write.provisionalKey() ? [:] : [write.provisionalKey(): record]
    }

    /// Returns the id that the app chose for the record that a write creates.
    private func chosenID(of write: OutboxWrite) -> ServiceID? {
        options.service(at: write.path).recordIDProperty.flatMap { write.data?[$0] }.flatMap { ServiceID($0) }
    }

    func decided(_ id: UUID, _ replacement: Replacement? = nil) {
        change { state in
            state.queue.decided(id, replacement)
            guard let write = state.queue.items[id]?.write else { return }
            state.publish(.changed(write, nil), of: write)
        }
    }

    /// Removes a write that has been executed or discarded. Live queries take its result, or take it back, in the same
    /// step.
    /// - Parameters:
    ///   - result: The server's result, and the user to whom it was sent; nil if the write was discarded.
    ///   - made: The id that the app has named for the record of a creation, by the provisional one.
    ///   - mayExist: Whether a record may exist although the write has no result.
    /// - Returns: The promise of its result, for the caller to settle.
    func finish(
        _ id: UUID, with result: ServerResult? = nil, made: [String: ServiceID] = [:], mayExist: Bool = false
    ) -> Promise<JSONValue>? {
        change { finish(id, with: result, made: made, mayExist: mayExist, in: &$0) }
    }

    private func finish(
        _ id: UUID, with result: ServerResult? = nil, made: [String: ServiceID] = [:], mayExist: Bool = false,
        in state: inout State
    ) -> Promise<JSONValue>? {
        guard let write = state.queue.items[id]?.write else { return nil }
        let isExecuted = result != nil || !made.isEmpty || mayExist
        var ids = result.map { Names.ids(of: write, $0.value) } ?? made
        if isExecuted, let chosen = chosenID(of: write) { ids.merge([write.provisionalKey(): chosen]) { id, _ in id } }
        let following = state.queue.references.writes(referringTo: id)
        state.queue.remove(id)
        state.publish(result.map { .executed(id, $0) } ?? .discarded(id, as: made.values.first), of: write)
        state.settle(write, ids, isExecuted: isExecuted, following, options)
        return state.results.removeValue(forKey: id)
    }

    /// Records the end of an executed write, with the records of its response. They are shown in the same step, so that
    /// whatever is stored later is at least as new.
    /// - Parameter user: The sign-in that is current.
    func end(_ write: OutboxWrite, with result: ServerResult, for user: RequestSender) async {
        let record = ending(write, result, storedAs: stored(result, of: write, for: user))
        let finish: @Sendable (Int) -> Void = { change in
            var result = result
            result.change = change
            self.finish(write.id, with: result)?.resolve(result.value)
        }
        // The write is complete even if that cannot be recorded: a later process sends it again with its key, or asks
        // for a decision.
        do { try await journal.append(record, isOwed: true, onDurable: finish) } catch { finish(0) }
    }

    /// Returns the record of the end of an executed write.
    func ending(_ write: OutboxWrite, _ result: ServerResult, storedAs executed: ExecutedResult?) -> JournalRecord {
        .ended(write.id, made: Names.made(by: write, result.value), executed: executed)
    }

    /// Returns a result whose records are stored; nil if they are not.
    private func stored(_ result: ServerResult, of write: OutboxWrite, for user: RequestSender) -> ExecutedResult? {
        // Once the user has left, the records may have been removed.
        guard options.storesRecords, let sender = result.sender, result.wasSent(to: user),
            (try? result.value.serialized()) != nil
        else { return nil }
        return ExecutedResult(write: write, result: result.value, identity: sender.identity)
    }

    /// Returns the data to send instead. A record to be created keeps its assigned id, because later writes may refer
    /// to it.
    private func replacement(_ decision: OutboxDecision, for item: OutboxQueue.Item) throws(FeathersError)
        -> Replacement?
    {
        let (write, current) = (item.write, item.failure?.current)
        var data: JSONValue
        switch decision {
        case .discard, .executed: return nil
        case .retry:
            // The condition that has failed would fail again.
            guard item.failure?.reason == .conflict, write.entityTag != nil else { return nil }
            return Replacement(key: write.key, data: write.data, base: current ?? write.base)
        case .replace(let new): data = new
        case .merge:
            guard let current, let ours = write.data else {
                throw FeathersError(
                    .conflict, "The write '\(write.id.text)' cannot be merged: the server's record is not known",
                    execution: .neverSent)
            }
            data = ours.merged(since: write.base, with: current, isWhole: write.method == .update)
        }
        if write.method == .create, let property = options.service(at: write.path).recordIDProperty, data.object != nil,
            data[property] == nil, let id = write.data?[property]
        {
            data[property] = id
        }
        let tag = item.failure?.reason == .conflict ? item.failure?.entityTag : write.entityTag
        return Replacement(key: .new, data: data, base: current ?? write.base, tag: tag)
    }
}

extension FeathersError {
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

    init(notInOutbox id: UUID) {
        self.init(.notFound, "The outbox does not contain the write '\(id.text)'", execution: .neverSent)
    }
}
