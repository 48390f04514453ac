// Locks: State of one reader, in the task that reads its snapshots.

import FeathersCore
import FeathersSupport
import Foundation

/// Reads a list of its own for each key of a relation: its latest records, or their number as one row.
struct RelatedPartsReader<Record: Sendable>: LiveRowsReading {
    /// The list of a key. A class, because copies of hundreds of readers take most of the time otherwise.
    private final class Part {
        let key: String
        let value: JSONValue
        let isUnsent: Bool
        var reader: LiveReader<Record>
        var snapshot: LiveSnapshot<Record>?
        /// The row of a count.
        var count: ResultRow?
        /// Why the server does not show the list to a user.
        var refusal: (error: FeathersError, sender: RequestSender)?

        init(_ key: String, _ value: JSONValue, isUnsent: Bool, _ reader: LiveReader<Record>) {
            (self.key, self.value, self.isUnsent, self.reader) = (key, value, isUnsent, reader)
        }
    }

    private let source: LiveSource<Record>
    private let relation: RelationSource
    private let requests: CountRequests?
    private let wake: AsyncStream<Void>.Continuation
    private var parts: [Part] = []
    private var isDue = false
    private var shown = ResultRows()

    init(_ source: LiveSource<Record>, _ relation: RelationSource, _ wake: AsyncStream<Void>.Continuation) {
        (self.source, self.relation, self.wake) = (source, relation, wake)
        requests =
            if case .count(let function?) = relation.part {
                CountRequests(source.service.app, source.control.turns, source.clock, function)
            } else { nil }
    }

    var window: LiveWindow? { parts.lazy.compactMap(\.reader.window).first }
    var shownFor: RequestSender? {
        parts.lazy.compactMap { $0.refusal?.sender ?? $0.reader.shownFor }.first(where: \.isCurrent)
    }

    mutating func close() { for part in parts { part.reader.close() } }

    mutating func changeKeys(_ change: RelatedKeys.Change) {
        parts.removeAll { change.removed[$0.key] != nil }
        for (key, value) in change.added.sorted(by: { $0.key < $1.key }) {
            let isUnsent = change.unsent.contains(key)
            let list = source.part(relation, value, isUnsent: isUnsent, requests)
            parts.append(Part(key, value, isUnsent: isUnsent, LiveReader(list, wake)))
        }
        isDue = true
    }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        for part in parts where try await poll(part, isolation: actor) { isDue = true }
        guard isDue else { return nil }
        isDue = false
        return snapshot()
    }

    /// - Returns: Whether the list of a key has changed.
    private func poll(_ part: Part, isolation actor: isolated (any Actor)?) async throws -> Bool {
        if let refusal = part.refusal {
            if refusal.sender.isCurrent { return false }
            part.refusal = nil
        }
        do {
            guard let next = try await part.reader.poll(isolation: actor) else { return false }
            part.snapshot = next
            guard case .count = relation.part else { return true }
            let count = try next.count(at: source.service.path).map {
                JSONValue(relatedCount: $0, of: part.value, in: relation.property)
            }
            if part.count?.record == count { return true }
            part.count = count.map { ResultRow(FeathersSync.Record(part.key, $0)) }
            return true
        } catch let error as FeathersError where error.code == .forbidden {
            // The others may be shown to this user.
            guard let sender = part.reader.window?.sender else { throw error }
            part.reader.close()
            (part.snapshot, part.count, part.refusal) = (nil, nil, (error, sender))
            return true
        }
    }

    /// Returns the rows of all lists.
    private mutating func snapshot() -> LiveSnapshot<Record> {
        var content = parts.lazy.compactMap(\.snapshot?.liveContent).first ?? LiveContent()
        var (rows, missing) = ([ResultRow](), MissingRecords())
        content.source = .server
        for part in parts {
            if case .count = relation.part {
                if let row = part.count { rows.append(row) }
            } else if let snapshot = part.snapshot {
                rows += snapshot.rows.resultRows
                if snapshot.undecodableCount > 0 { missing.leftOut.insert(part.key) }
            }
            missing.failure = missing.failure ?? part.refusal?.error ?? part.snapshot?.missing.failure
            if part.isUnsent { continue }
            let state = part.refusal == nil ? part.snapshot?.source ?? .unknown : .server
            content.source = content.source.older(state)
            if part.refusal != nil || state == .unknown { missing.unfetched.insert(part.key) }
        }
        (content.missing, content.total, content.hasMore, content.undecodableCount) = (missing, nil, false, 0)
        if let window { content.firstKeys = window.withState { store, _ in store.records.firstKeys } }
        let all = ResultRows(rows)
        let difference = LiveDifference(all.changes(since: shown), of: all, since: shown, firstKeys: content.firstKeys)
        shown = all
        return LiveSnapshot(all, content, difference, identity: window?.sender.identity)
    }
}

extension ResultSource {
    /// Nothing is known but queued writes.
    fileprivate static var unknown: ResultSource { .stored(since: .distantPast) }

    fileprivate func older(_ other: ResultSource) -> ResultSource {
        switch (self, other) {
        case (.stored(let own), .stored(let date)): .stored(since: Swift.min(own, date))
        case (.stored, .server): self
        default: other
        }
    }
}

extension LiveSource {
    /// Returns the list of a key.
    fileprivate func part(
        _ relation: RelationSource, _ value: JSONValue, isUnsent: Bool, _ requests: CountRequests?
    ) -> LiveSource {
        var source = self
        source.query = query.where(relation.property, value)
        source.relation?.isUnsent = isUnsent
        if let requests, let id = ServiceID(value) { source.relation?.counted = (requests, id) }
        return source
    }
}

/// Collects the counts that are wanted at the same time, and asks the app's function for all of them in one call.
final class CountRequests: Sendable {
    private struct State: Sendable {
        /// The call that further counts join.
        var next = 0
        var ids: [Int: [ServiceID]] = [:]
    }

    private let app: FeathersApp
    private let turns: RequestTurns
    private let clock: any Clock<Duration>
    private let function: CountFunction
    private let state = Locked(State())
    private let calls = SingleFlight<Int, [String: Int]>()

    init(_ app: FeathersApp, _ turns: RequestTurns, _ clock: any Clock<Duration>, _ function: @escaping CountFunction) {
        (self.app, self.turns, self.clock, self.function) = (app, turns, clock, function)
    }

    func count(of id: ServiceID) async throws -> Int {
        let call = state.withLock { state in
            state.ids[state.next, default: []].append(id)
            return state.next
        }
        let counts = try await calls.value(of: call) {
            // The other rows of a list want theirs at the same moment.
            try await clock.sleep(for: .milliseconds(10))
            let ids = state.withLock { state in
                if state.next == call { state.next += 1 }
                return state.ids[call] ?? [id]
            }
            do {
                let counts = try await turns.run { try await function(app, ids) }
                state.withLock { $0.ids[call] = nil }
                return Dictionary(counts.map { ($0.key.key, $0.value) }) { first, _ in first }
            } catch {
                // After a cancellation, another caller makes the call.
                if !Task.isCancelled { state.withLock { $0.ids[call] = nil } }
                throw error
            }
        }
        return counts[id.key] ?? 0
    }
}
