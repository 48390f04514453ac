import FeathersCore
import FeathersSupport
public import Foundation

extension Outbox {
    /// Decides how to proceed with any write that is not being sent.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such write, ``FeathersError/Code/conflict`` while it is
    ///   being sent, ``FeathersError/Code/badRequest`` if it is not a creation of one record that may have been executed
    ///   but the decision is ``OutboxDecision/executed(as:)``, or the reason why the decision could not be recorded. In
    ///   each case, nothing changes.
    public func decide(_ decision: OutboxDecision, for id: UUID) async throws {
        let item = try changeState { state in
            try state.queue.decisionBegan(id)
            return state.queue.items[id]
        }
        guard let item else { return }
        do {
            try await recordEvent(event(of: decision, for: item))
        } catch {
            changeState { $0.queue.decisionFailed(id) }
            throw error
        }
    }

    private func event(of decision: OutboxDecision, for item: OutboxQueue.Item) throws -> WriteEvent {
        let id = item.write.id
        switch decision {
        case .discard: return .ended(discarding(item))
        case .executed(let record):
            try requireCreation(by: item, as: record)
            return .ended(
                WriteEnd(
                    write: id, outcome: .named(record), names: [item.write.provisionalKey(): .assigned(record)],
                    place: RecordKey.place(item.write.path, item.write.route)))
        case .retry, .replace, .merge:
            let replacement = try self.replacement(decision, for: item)
            if let data = replacement?.data { try changeState { try $0.queue.willReplaceData(of: id, with: data) } }
            return .decided(id, replacement)
        }
    }

    /// Returns the end of a discarded write.
    private func discarding(_ item: OutboxQueue.Item) -> WriteEnd {
        let write = item.write
        // Without the record, nothing that refers to it can be executed. If it may exist, its id is known only if the app
        // chose it.
        let existing = write.method == .create && item.mayHaveExecuted ? chosenID(of: write) : nil
        return withState { state in
            let dependents = state.queue.references.dependents(of: write.id, isGone: existing == nil)
            var names: [String: Names.Name] = [:]
            for id in [write.id] + dependents.keys {
                for key in state.queue.items[id]?.write.provisionalKeys ?? [] { names[key] = .gone }
            }
            if let existing { names[write.provisionalKey()] = .assigned(existing) }
            return WriteEnd(write: write.id, outcome: .discarded, names: names, dependents: dependents)
        }
    }

    /// - Throws: ``FeathersError/Code/badRequest`` if the write cannot have created such a record.
    private func requireCreation(by item: OutboxQueue.Item, as record: ServiceID) throws(FeathersError) {
        let write = item.write
        let chosen = outboxOptions.service(at: write.path).recordIDProperty.flatMap { write.data?[$0] }
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
    }

    /// Returns the id that the app chose for the record that a write creates.
    private func chosenID(of write: OutboxWrite) -> ServiceID? {
        outboxOptions.service(at: write.path).recordIDProperty.flatMap { write.data?[$0] }.flatMap { ServiceID($0) }
    }

    /// Returns the end of an executed write, with the records of its response. They are stored and shown in the same
    /// step, so that whatever is stored later is at least as new.
    /// - Parameter user: The sign-in that is current.
    func writeEnd(of write: OutboxWrite, with result: ServerResult, for user: RequestSender) -> WriteEnd {
        var ids = Names.ids(of: write, result.value)
        if let chosen = chosenID(of: write) { ids.merge([write.provisionalKey(): chosen]) { id, _ in id } }
        let names = write.provisionalKeys.map { key in (key, ids[key].map { .assigned($0) } ?? Names.Name.unknown) }
        return WriteEnd(
            write: write.id, outcome: .executed(result), names: Dictionary(uniqueKeysWithValues: names),
            place: names.isEmpty ? nil : RecordKey.place(write.path, write.route),
            stored: stored(result, of: write, for: user))
    }

    /// Returns a result whose records are stored; nil if they are not.
    private func stored(_ result: ServerResult, of write: OutboxWrite, for user: RequestSender) -> ExecutedResult? {
        // Once the user has left, the records may have been removed.
        guard outboxOptions.storesRecords, let sender = result.sender, result.wasSent(to: user),
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
        if write.method == .create, let property = outboxOptions.service(at: write.path).recordIDProperty,
            data.object != nil,
            data[property] == nil, let id = write.data?[property]
        {
            data[property] = id
        }
        let tag = item.failure?.reason == .conflict ? item.failure?.entityTag : write.entityTag
        return Replacement(key: .new, data: data, base: current ?? write.base, tag: tag)
    }
}

extension FeathersError {
    init(notInOutbox id: UUID) {
        self.init(.notFound, "The outbox does not contain the write '\(id.text)'", execution: .neverSent)
    }
}
