import FeathersCore
import FeathersSupport
import Foundation

extension Outbox {
    /// Queues the writes of a closure as one unit, in order.
    ///
    /// ```swift
    /// let (board, card) = try await outbox.group {
    ///     let board = try await boards.outbox.create(["name": "Plans"])
    ///     let card = try await cards.outbox.create([
    ///         "board": board.recordID, "text": "Buy milk",
    ///     ])
    ///     return (board, card)
    /// }
    /// ```
    /// The writes of `body` through this outbox are stored together when it returns: all of them or none, also if the
    /// disk or the outbox is full. Live queries show them in one step. Then each is sent after the one before it is
    /// finished. A write that needs a decision holds back the rest of its group, and discarding it discards the rest.
    ///
    /// If `body` throws or its task is cancelled, none is queued, and waiting for their results throws. A group inside
    /// another one joins it. Wait for results after the group, because nothing of it is sent before.
    /// - Parameter body: The code whose writes are queued together, including those of its child tasks.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, ``FeathersError/Code/notAuthenticated`` if the user who made the writes is no
    ///   longer signed in, or a ``FeathersError`` naming the file if it does not take the writes.
    public func group<Result>(_ body: () async throws -> Result) async throws -> Result {
        let group = OutboxGroup(of: self)
        do {
            let entered = OutboxGroup.entered + [group]
            let result = try await OutboxGroup.$entered.withValue(entered) { try await body() }
            try Task.checkCancellation()
            let members = group.close()
            if await !collect(members) { try await store(members) }
            group.ended.resolve(())
            return result
        } catch {
            group.fail(error)
            throw error
        }
    }

    /// Adds a write to the group in which it is made.
    /// - Returns: Nil if it is made in none.
    func collect(_ draft: Draft, at path: String, as identity: Identity?) async throws -> QueuedWrite<JSONValue>? {
        guard !OutboxGroup.entered.isEmpty else { return nil }
        let member = OutboxGroup.Member(draft: draft, path: path, identity: identity)
        let write = try withState { state in
            // A copy, because the group may still fail.
            var state = state
            return Result { try state.write(state.resolved(draft, at: path, as: identity), at: path, as: identity) }
        }.get()
        guard await collect([member]) else { return nil }
        return QueuedWrite(write: write, outcomePromise: member.outcome) { $0 }
    }

    /// - Returns: Whether a group of this outbox has taken the writes.
    private func collect(_ members: [OutboxGroup.Member]) async -> Bool {
        for group in OutboxGroup.entered.reversed() where group.outbox === self {
            if group.append(members) { return true }
            // The task has outlived its group, whose writes come first.
            try? await group.ended.value()
        }
        return false
    }

    /// Stores the writes of a group together.
    private func store(_ members: [OutboxGroup.Member]) async throws {
        guard !members.isEmpty else { return }
        do {
            let app = withState { $0.app?.app }
            let identity = await app?.resolvedIdentity()
            guard members.allSatisfy({ $0.identity == nil || $0.identity == identity }) else {
                throw FeathersError(
                    .notAuthenticated, "The group was not queued: the signed-in user changed before its end",
                    execution: .neverSent)
            }
            let writes = try withState { [outboxOptions] state in
                Result { try state.writes(of: members, as: identity, outboxOptions) }
            }.get()
            let outcomes = zip(writes, members).map { ($0.id, $1.outcome) }
            try await recordEvent(.queued(writes), Dictionary(uniqueKeysWithValues: outcomes))
        } catch {
            for member in members { member.outcome.fail(error) }
            throw error
        }
    }
}

extension Outbox.State {
    /// Returns the writes of a group, each of which knows the records that the earlier ones create.
    fileprivate mutating func writes(
        of members: [OutboxGroup.Member], as identity: Identity?, _ options: OutboxOptions
    ) throws -> [OutboxWrite] {
        var records = Names()
        var writes: [OutboxWrite] = []
        for member in members {
            let draft = try resolved(member.draft, at: member.path, as: identity, records)
            let write = write(draft, at: member.path, as: identity, after: writes.last?.id)
            records.add(write, options)
            writes.append(write)
        }
        return writes
    }
}

/// The writes that are made in a closure, until they are queued together.
final class OutboxGroup: Sendable {
    struct Member: Sendable {
        let draft: Outbox.Draft
        let path: String
        /// The user who made the write.
        let identity: Identity?
        let outcome = Promise<JSONValue>()
    }

    /// The groups in which the current task runs, the innermost last. They may belong to several outboxes.
    @TaskLocal static var entered: [OutboxGroup] = []

    let outbox: Outbox
    /// Settled when the writes are stored, have joined another group, or were given up.
    let ended = Promise<Void>()
    private struct State: Sendable {
        /// The writes so far; nil once the closure has returned.
        var members: [Member]? = []
        /// Whether a direct call in the group was reported.
        var hasWarned = false
    }

    private let state = Locked(State())

    init(of outbox: Outbox) { self.outbox = outbox }

    /// - Returns: Whether the group is open.
    func append(_ new: [Member]) -> Bool { state.withLock { $0.members?.append(contentsOf: new) != nil } }

    /// Ends the group, and returns its writes.
    func close() -> [Member] {
        state.withLock { state in
            defer { state.members = nil }
            return state.members ?? []
        }
    }

    /// Gives up the writes that are still in the group.
    func fail(_ error: any Error) {
        let notQueued = FeathersError(
            .gone, "The write was not queued, because its group failed", execution: .neverSent, cause: error)
        for member in close() { member.outcome.fail(notQueued) }
        ended.resolve(())
    }

    /// Warns once in each group about a call that writes, because it is sent before the writes of the group.
    /// - Throws: ``FeathersError/Code/conflict`` if a call that is made in a group refers to a record that one of its
    ///   writes creates.
    static func check(_ request: ServiceRequest, _ outbox: Outbox) throws(FeathersError) {
        guard !entered.isEmpty else { return }
        let groups = entered.filter { $0.outbox === outbox }
        let members = groups.flatMap { $0.state.withLock { $0.members ?? [] } }
        var missing: [Names.Missing] = []
        _ = Names(of: members.map { ($0.draft.id, $0.draft.provisionalKeys) }).translated(request, &missing)
        guard let missing = missing.first else {
            groups.last?.warn(about: request)
            return
        }
        throw FeathersError(
            .conflict,
            "The call refers to a record, in \(missing.property), that is queued when its group ends: make the call after "
                + "the group", execution: .neverSent)
    }

    private func warn(about request: ServiceRequest) {
        let methods: Set<ServiceMethod> = [.create, .update, .patch, .remove]
        guard methods.contains(request.method), !request.params.concernsConnection else { return }
        let isFirst = state.withLock { state in
            defer { state.hasWarned = true }
            return state.members != nil && !state.hasWarned
        }
        guard isFirst else { return }
        outbox.withState { $0.app }?.app?.diagnostics.log(
            .warning, .outbox,
            "'\(request.method)' of service '\(request.path)' is called in a group and is not part of it: it is sent before "
                + "the group's writes, even if the group fails. Queue it with the service's 'outbox'",
            [.path: .string(request.path)])
    }

    /// Returns whether the current task runs in the group of a write, which is therefore not queued yet.
    static func isOpen(for id: UUID) -> Bool {
        entered.contains { group in
            group.state.withLock { $0.members?.contains { $0.draft.id == id } ?? false }
        }
    }
}
