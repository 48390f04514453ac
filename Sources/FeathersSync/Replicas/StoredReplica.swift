// Locks: `StoredReplica.state` guards what is known of the replica of the present user. It is not held while another lock
// is.

import FeathersCore
import FeathersSupport
import Foundation

/// A replica that an app keeps up to date, for the user who is signed in.
final class StoredReplica: Sendable {
    /// The replica of a user.
    struct Open: Sendable {
        let key: ListKey
        var head: ReplicaHead
        /// Whether everything was read that was wanted then.
        var isCurrent = false
        /// What says whether more is wanted now; nil while nothing keeps the replica up to date.
        var watch: ReplicaWatch.ID?
    }

    private struct State: Sendable {
        var open: Open?
        var progress = ReplicaProgress()
        var isRemoved = false
        var wake: AsyncStream<Void>.Continuation?
    }

    /// Reads the records that the replica has, removed ones included.
    let source: LiveSource<JSONValue>
    /// The conditions that name the replica.
    let filter: Query<JSONValue>
    /// Decides which records belong to it.
    let judge: QueryJudge
    /// The property that orders the changes of records.
    let version: String
    let removals: ReplicaRemovals
    /// The properties by which records are found.
    let indexes: [String]
    /// How much earlier than the last version the next differences begin.
    let overlap: Duration
    let lists: StoredLists
    let progress = CurrentValue(ReplicaProgress())
    private let state = Locked(State())

    init(
        _ source: LiveSource<JSONValue>, version: String, removals: ReplicaRemovals, indexes: [String],
        overlap: Duration, _ lists: StoredLists
    ) throws {
        filter = source.params.query.joined(with: source.query)
        (self.version, self.removals, self.indexes) = (version, removals, indexes)
        (self.source, self.overlap, self.lists) = (source, overlap, lists)
        let path = source.service.path
        if let name = filter.json.keys.first(where: { ["$limit", "$skip", "$sort", "$select"].contains($0) }) {
            throw FeathersError.refused("A replica of service '\(path)' has all of its records: leave out '\(name)'")
        }
        guard source.params.route.isEmpty else {
            throw FeathersError.refused(
                "A replica of service '\(path)' needs a path without placeholders, of which events do not say the values"
            )
        }
        judge = try QueryJudge(filter.joined(with: removals.condition), id: source.id, operators: source.operators)
        guard judge.canJudge else {
            throw FeathersError.refused(
                "A replica of service '\(path)' needs conditions that can be evaluated on this device")
        }
    }

    /// Whether another replica has the same records, as the server shows them to the same requests.
    func hasRecords(of other: StoredReplica) -> Bool {
        source.service.path.isExactly(other.source.service.path) && source.id.isExactly(other.source.id)
            && filter == other.filter && source.params.headers == other.source.params.headers
            && version.isExactly(other.version) && removals.mark == other.removals.mark
    }

    /// Whether another replica of the same records is kept in the same way.
    func isKept(as other: StoredReplica) -> Bool {
        removals == other.removals && indexes == other.indexes && overlap == other.overlap
    }

    // MARK: The present user

    /// Returns the key under which the replica of a user is stored; nil if it is not.
    func key(for identity: Identity?) -> ListKey? {
        source.listKey(for: identity).map { key in
            let values: JSONObject = [
                "replica": .string(version), "query": .object(judge.request.json), "id": .string(source.id),
                "route": .string(key.service.route),
            ]
            let text = (try? JSONValue.object(values).serialized()).map { String(decoding: $0, as: UTF8.self) }
            return ListKey(service: key.service, text: text ?? "")
        }
    }

    /// The replica of the present user; nil before it is opened.
    var open: Open? { state.withLock { $0.open } }

    func set(_ open: Open?) {
        state.withLock { $0.open = open }
        if open == nil { report { $0 = ReplicaProgress() } }
    }

    func setCurrent(_ isCurrent: Bool) { state.withLock { $0.open?.isCurrent = isCurrent } }

    /// Sets what says whether more is wanted.
    func setWatch(_ watch: ReplicaWatch.ID?) { state.withLock { $0.open?.watch = watch } }

    /// Reads what is stored for a user, or begins to store it.
    func open(for identity: Identity?) async throws -> Open? {
        guard let key = key(for: identity) else { return nil }
        let head = try await lists.database.write { [indexes] database in
            try ReplicaTables.addedHead(key, indexes, in: database)
        }
        let open = Open(key: key, head: head)
        set(open)
        report { $0 = ReplicaProgress(head) }
        return open
    }

    /// Changes the progress. Answers and a synchronization may do so at the same time.
    func report(_ change: (inout ReplicaProgress) -> Void) {
        state.withLock { state in
            change(&state.progress)
            progress.enqueue(state.progress)
        }
        progress.deliver()
    }

    /// Stores what was reported, and changes the head in the same step.
    /// - Throws: ``ReplicaLost`` if the replica was removed.
    func save(_ store: LiveStore, _ change: @escaping @Sendable (inout ReplicaHead) -> Void = { _ in }) async throws {
        guard let key = open?.key else { throw ReplicaLost() }
        let saved = Locked<ReplicaHead?>(nil)
        try await lists.saveReports(of: store) { [judge, indexes, maximum = lists.store.maximumSize] database in
            guard var head = try ReplicaTables.head(key, in: database) else { throw ReplicaLost() }
            try ReplicaTables.place(&head, judge, indexes, in: database)
            change(&head)
            try ReplicaTables.write(head, in: database)
            if try LocalRoom.size(in: database) > maximum, !head.isComplete {
                throw FeathersError(
                    .generalError,
                    "The replica of service '\(key.service.path)' is larger than LocalStore.maximumSize (\(maximum))",
                    execution: .answered)
            }
            saved.withLock { $0 = head }
        }
        // The user may have left.
        guard let head = saved.withLock(\.self) else { throw ReplicaLost() }
        let isLatest = state.withLock { state in
            // Another one may have been stored later, and be here first.
            guard let known = state.open?.head, known.change <= head.change else { return false }
            state.open?.head = head
            return true
        }
        if isLatest { report { $0.update(head) } }
    }

    // MARK: Removing

    var isRemoved: Bool { state.withLock { $0.isRemoved } }

    /// Sets what a removal wakes.
    func wakes(_ wake: AsyncStream<Void>.Continuation?) { state.withLock { $0.wake = wake } }

    /// Ends the replica.
    /// - Returns: Where it is stored.
    func remove() -> ListKey? {
        let (key, wake) = state.withLock { state in
            state.isRemoved = true
            defer { state.open = nil }
            return (state.open?.key, state.wake)
        }
        wake?.yield()
        return key
    }
}

/// The records of a replica were removed, or its user has left.
struct ReplicaLost: Error {}

/// The replicas of an app.
final class StoredReplicas: Sendable {
    private struct State: Sendable {
        var all: [StoredReplica] = []
        var begin: AsyncStream<StoredReplica>.Continuation?
    }

    private let state = Locked(State())

    /// Adds a replica, unless there is one of the same records.
    /// - Returns: That one, or the new one.
    func added(_ replica: StoredReplica) -> StoredReplica {
        let (known, begin) = state.withLock { state in
            if let known = state.all.first(where: { $0.hasRecords(of: replica) }) {
                return (known, AsyncStream<StoredReplica>.Continuation?.none)
            }
            state.all.append(replica)
            return (replica, state.begin)
        }
        begin?.yield(replica)
        return known
    }

    func remove(_ replica: StoredReplica) { state.withLock { $0.all.removeAll { $0 === replica } } }

    var all: [StoredReplica] { state.withLock { $0.all } }

    /// Keeps all replicas up to date until the task is cancelled.
    func run(_ app: FeathersApp) async {
        let (begun, begin) = AsyncStream.makeStream(of: StoredReplica.self)
        let first = state.withLock { state in
            state.begin = begin
            return state.all
        }
        await withDiscardingTaskGroup { group in
            for replica in first { group.addTask { await ReplicaRun(replica, app).run() } }
            for await replica in begun { group.addTask { await ReplicaRun(replica, app).run() } }
            group.cancelAll()
        }
        state.withLock { $0.begin = nil }
    }
}
