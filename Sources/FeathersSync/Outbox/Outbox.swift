public import FeathersCore
import FeathersSupport
public import Foundation

/// Stores writes in a file until the server has executed them. Writes made offline are sent later, in order, even by a later process.
///
/// ```swift
/// let outbox = try await Outbox(file: folder.appending(path: "writes.outbox"))
/// try app.use(outbox: outbox)
/// try await app.service("messages").outbox.create(["text": "Hi"])
/// ```
///
/// An accepted write is stored on disk until the server has responded or you discard it. Writes are sent while the app is running, through all of the
/// app's hooks.
///
/// One outbox serves all users of an app. Each write is sent on behalf of the user who queued it, and waits while another user is signed in.
///
/// The file contains the writes' data, unencrypted and readable only by its owner. It contains no header fields: hooks must add whatever else a call
/// needs, such as the token. Use one outbox for each file, and one app for each outbox.
///
/// An outbox holds at most 100,000 writes with 256 MiB of data, and refuses more.
public final class Outbox: Sendable {
    struct State: Sendable {
        var queue: OutboxQueue
        /// The app that the outbox is installed in.
        var app: WeakApp?
        /// The results that callers can await.
        var results: [UUID: Promise<JSONValue>] = [:]
        /// Receives a value when there may be something to send; nil while no sender runs.
        var wake: AsyncStream<Void>.Continuation?
        /// The live queries that show the writes.
        var feeds = LiveFeeds()
        var provisional = ProvisionalRecords()
        var executed = ExecutedWrites()
        var tagged = TaggedRecords()

        /// Shows a change of a write in the live queries of its service.
        mutating func publish(_ change: OutboxChange, at path: String) { feeds.publish(at: path) { $0.apply(change) } }
    }

    let options: OutboxOptions
    let timebase: RelativeClock
    let journal: JournalWriter
    private let contents: Locked<State>
    private let subscribers = Subscribers<Void>()

    /// Opens an outbox, or creates one.
    /// - Parameters:
    ///   - file: The file for the writes, created with mode 0600. Its folder is created if needed. Two more files may appear next to it.
    ///   - configure: Changes the options of the outbox.
    /// - Throws: ``FeathersError`` naming the file if another outbox uses it, if it cannot be read or written, if it holds too many writes, or if it
    ///   is damaged, with the offset of the damage. A partial record at the end was never accepted and is dropped.
    public convenience init(file: URL, _ configure: (inout OutboxOptions) -> Void = { _ in }) async throws {
        guard file.isFileURL, !file.hasDirectoryPath else {
            throw FeathersError(.badRequest, "An outbox needs the URL of a file, not '\(file.path)'", execution: .neverSent)
        }
        let name = file.lastPathComponent
        let disk = SystemDisk(folder: file.deletingLastPathComponent().path, lockName: "\(name).lock")
        try await self.init(on: disk, name: name, path: file.path, OutboxOptions(configure))
    }

    init(on disk: any JournalDisk, name: String, path: String, _ options: OutboxOptions) async throws {
        var options = options
        options.services = Dictionary(
            options.services.map { (FeathersApp.stripSlashes($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        self.options = options
        timebase = RelativeClock(options.clock)
        journal = JournalWriter(on: disk, name: name, path: path)
        var queue = OutboxQueue(limit: options.concurrentLanes, retry: options.retry)
        var results: [UUID: Promise<JSONValue>] = [:]
        let stored = try await journal.open()
        for stored in stored.inOrder {
            queue.restore(stored, isKeyed: options.service(at: stored.write.path).recognizesRepetition(of: stored.write))
            results[stored.write.id] = Promise()
        }
        var state = State(queue: queue, results: results)
        for item in queue.inOrder { state.provisional.add(item.write) }
        state.executed = stored.executed
        contents = Locked(state)
    }

    /// Closes the file, so that another outbox can use it. Later writes are refused.
    ///
    /// Shut down the app first: a response that arrives after closing cannot be recorded.
    public func close() async { await journal.close() }

    /// The current state of the outbox.
    public var state: OutboxState {
        let (queue, app) = contents.withLock { ($0.queue, $0.app?.app) }
        // The app has a new user slightly before the outbox is notified.
        return OutboxState(queue, of: app.map(\.identity) ?? queue.identity, at: timebase.now)
    }

    /// Returns a stream of the current state and the state after each change. A slow reader gets the newest state only.
    public func stateUpdates() -> AsyncStream<OutboxState> {
        let changes = subscribers.stream(bufferingNewest: 1, first: ())
        return AsyncStream {
            for await _ in changes { return self.state }
            return nil
        }
    }

    /// Waits for the result of a write in the outbox. The write may have been queued by an earlier process.
    /// - Throws: ``FeathersError/Code/notFound`` if the write is not in the outbox, the failure it was discarded with, or `CancellationError`.
    public func result(of id: UUID) async throws -> JSONValue {
        guard let result = contents.withLock({ $0.results[id] }) else { throw FeathersError(notInOutbox: id) }
        return try await result.value()
    }

    /// Sends again immediately what waits for a delay: after the server could not be reached, required a sign-in, or deferred a write.
    ///
    /// Call it if your app detects by itself that the network is back, comes to the foreground, or signs in without this package.
    public func retryNow() { change { $0.queue.retryNow() } }

    /// Sends the pending writes of the signed-in user, for at most some time. Use it in background tasks.
    ///
    /// The app must be running. Returns early if everything is sent, if all that is left needs a decision, or if the server requires a sign-in.
    /// - Returns: The writes that are left. They are sent later, also by a later process.
    /// - Throws: `CancellationError` if the task is cancelled.
    @discardableResult
    public func flush(within limit: Duration) async throws -> [OutboxEntry] {
        retryNow()
        let timeout = FeathersError(.timeout, "The writes could not be sent in time", execution: .neverSent)
        do {
            try await timebase.run(atMost: limit, orThrow: timeout) {
                // Without the states, which list all writes.
                for await _ in self.subscribers.stream(bufferingNewest: 1, first: ()) where self.withState({ $0.queue.isAtRest }) { return }
                try Task.checkCancellation()
            }
        } catch is FeathersError {}
        return state.entries
    }

    /// Sends writes until the task is cancelled. Returns immediately if the outbox is already sending.
    ///
    /// ``FeathersApp/use(outbox:)`` calls it while the app is running. If your app calls ``FeathersApp/connect()`` instead, call it yourself.
    public func run(in app: FeathersApp) async { await OutboxSender(outbox: self, app: app).run() }

    /// Changes the state without notifying anyone.
    func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { contents.withLock(body) }

    /// Changes the state, then notifies subscribers and the sender, outside the lock.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        let (result, wake, feeds) = try contents.withLock { state in (try body(&state), state.wake, state.feeds.takeChanged()) }
        for feed in feeds { feed.reading.wake() }
        subscribers.yield(())
        wake?.yield()
        return result
    }
}

// MARK: - Adding

extension Outbox {
    /// A write without an id and a position in the queue.
    struct Draft: Sendable {
        var method: ServiceMethod
        var recordID: ServiceID?
        var data: JSONValue?
        var query = Query()
        var route: [String: String] = [:]
        /// The record that determines the order of the write, if it is not the one of `recordID`.
        var orderingKey: ServiceID?

        /// The lane of an earlier write to the same record, if that record's id was provisional.
        var knownLane: String?

        /// Returns the lane of the record, regardless of whether its id is a number or a string. A write without a record gets its own lane.
        fileprivate func lane(_ id: UUID, _ path: String, _ identity: Identity?) -> String {
            if let knownLane { return knownLane }
            guard let record = orderingKey ?? recordID else { return "#\(id.text)" }
            // Two users' writes wait for different sign-ins, so they cannot share a lane.
            let path = identity.map { "\($0.name)@\(path)" } ?? path
            let values = route.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)&" }.joined()
            return "\(path)?\(values)#\(record)"
        }
    }

    /// Accepts a write. Returns once it is on disk.
    /// - Throws: ``FeathersError`` with the reason why the write is not in the outbox.
    func add(_ draft: Draft, path: String, as identity: Identity?) async throws -> QueuedWrite<JSONValue> {
        let id = UUID.new
        var draft = draft
        if draft.method == .create, let property = options.service(at: path).recordIDProperty, draft.data?.object != nil {
            if draft.data?[property] == nil { draft.data?[property] = .string(id.text) }
            draft.orderingKey = draft.data?[property].flatMap { ServiceID($0) }
        } else if draft.method == .create, let property = options.service(at: path).recordIDProperty, let elements = draft.data?.array {
            draft.data = .array(
                elements.map { $0.object == nil || $0[property] != nil ? $0 : $0.setting(property, to: .string(UUID.new.text)) })
            draft.orderingKey = .string(id.text)
        } else if draft.method == .create {
            // Later writes to the record follow, by its provisional id.
            draft.orderingKey = .string(id.text)
        } else if let record = draft.recordID, let known = withState({ $0.known(record, at: path, draft.route) }) {
            (draft.recordID, draft.knownLane) = (known.id, known.identity == identity ? known.lane : nil)
        }
        let lane = draft.lane(id, path, identity)
        if let squashed = try await squash(draft, lane, path, identity) { return squashed }
        let (base, tag) = draft.recordID.map { id in withState { $0.base(of: id, draft.route, lane, path, identity) } } ?? (nil, nil)
        let write = OutboxWrite(
            id: id, key: id, path: path, method: draft.method, recordID: draft.recordID, data: draft.data, query: draft.query,
            route: draft.route, date: .current, identity: identity, base: base, entityTag: tag, lane: lane)
        let result = Promise<JSONValue>()
        try await journal.append(.added(write)) {
            self.change { state in
                state.results[id] = result
                state.add(write)
            }
        }
        return QueuedWrite(write: write, outcome: result) { $0 }
    }
}

// MARK: - Squashing

extension Outbox {
    /// Adds a patch to the last write of its lane, if that is a patch of the same record that has not been sent.
    /// - Returns: The write with both patches; nil if the patch must be queued by itself.
    private func squash(_ draft: Draft, _ lane: String, _ path: String, _ identity: Identity?) async throws -> QueuedWrite<JSONValue>? {
        guard options.squashesPatches, draft.method == .patch, let changes = draft.data, changes.object != nil else { return nil }
        let taken: (write: OutboxWrite, outcome: Promise<JSONValue>)? = change { state in
            guard let last = state.queue.lastUnsentPatch(in: lane), let outcome = state.results[last.id],
                last.path == path, last.recordID == draft.recordID, last.query == draft.query, last.route == draft.route,
                last.identity == identity, (try? state.queue.decisionBegan(last.id)) != nil
            else { return nil }
            return (last, outcome)
        }
        guard let (last, outcome) = taken, let data = last.data?.merging(changes) else { return nil }
        do {
            try await journal.append(.replaced(last.id, key: last.key, data: data, base: last.base, tag: last.entityTag))
        } catch {
            change { $0.queue.decisionFailed(last.id) }
            throw error
        }
        decided(last.id, Replacement(key: last.key, data: data, base: last.base, tag: last.entityTag))
        guard let write = withState({ $0.queue.items[last.id]?.write }) else { return nil }
        return QueuedWrite(write: write, outcome: outcome) { $0 }
    }
}

// MARK: - Deciding

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
    /// Decides how to proceed with a write. It may be any write that is not being sent.
    /// - Throws: ``FeathersError/Code/notFound`` if there is no such write, ``FeathersError/Code/conflict`` while it is being sent, or the reason why
    ///   the decision could not be recorded. In each case, nothing changes.
    public func decide(_ decision: OutboxDecision, for id: UUID) async throws {
        let item = try change { state in
            try state.queue.decisionBegan(id)
            return state.queue.items[id]
        }
        guard let item else { return }
        let replacement: Replacement?
        do {
            replacement = try self.replacement(decision, for: item)
            switch decision {
            case .discard: try await journal.append(.ended(id))
            case .retry, .replace, .merge:
                if let new = replacement {
                    try await journal.append(.replaced(id, key: new.key, data: new.data ?? .null, base: new.base, tag: new.tag))
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
            finish(id)?.fail(item.failure?.error ?? discarded)
        case .retry, .replace, .merge: decided(id, replacement)
        }
    }

    private func decided(_ id: UUID, _ replacement: Replacement? = nil) {
        change { state in
            state.queue.decided(id, replacement)
            guard let write = state.queue.items[id]?.write else { return }
            state.publish(.changed(write, nil), at: write.path)
        }
    }

    /// Removes a write that has been executed or discarded. Live queries take its result, or take it back, in the same step.
    /// - Parameters:
    ///   - result: The server's result, and the user to whom it was sent; nil if the write was discarded.
    ///   - executed: The result as it is stored, if it is.
    /// - Returns: The promise of its result, for the caller to settle.
    func finish(_ id: UUID, with result: ServerResult? = nil, storedAs executed: ExecutedWrite? = nil) -> Promise<JSONValue>? {
        change { state in
            guard let write = state.queue.items[id]?.write else { return nil }
            if let executed { state.executed.append(executed) }
            state.queue.remove(id)
            state.publish(result.map { .executed(id, $0) } ?? .discarded(id), at: write.path)
            if let result { state.rename(write, to: state.provisional.made(by: write, result.value)) }
            return state.results.removeValue(forKey: id)
        }
    }

    /// Returns the record of the end of an executed write.
    func ending(_ write: OutboxWrite, _ result: ServerResult, storedAs executed: ExecutedWrite?) -> JournalRecord {
        .ended(write.id, made: renaming(by: write, result.value), executed: executed?.result)
    }

    /// Returns the result of a write as it is stored; nil if it is not.
    func stored(_ result: ServerResult, of write: OutboxWrite) -> ExecutedWrite? {
        guard options.storesResults, let sender = result.sender, let size = try? result.value.serialized().count,
            size <= ExecutedWrites.maximumSize
        else { return nil }
        let dataSize = (try? write.data?.serialized().count) ?? 0
        return ExecutedWrite(
            write: write, result: ExecutedResult(result: result.value, identity: sender.identity, date: .current), size: size + dataSize)
    }

    /// Returns the ids that the server has assigned to created records, if other writes know one of them by its provisional id.
    private func renaming(by write: OutboxWrite, _ result: JSONValue) -> [String: ServiceID] {
        withState { state in
            let made = state.provisional.made(by: write, result)
            return made.keys.contains { state.queue.hasWrites(to: $0) } ? made : [:]
        }
    }

    /// Returns the data to send instead. A record to be created keeps its assigned id, because later writes may refer to it.
    private func replacement(_ decision: OutboxDecision, for item: OutboxQueue.Item) throws(FeathersError) -> Replacement? {
        let (write, current) = (item.write, item.failure?.current)
        var data: JSONValue
        switch decision {
        case .discard: return nil
        case .retry:
            // The condition that has failed would fail again.
            guard item.failure?.reason == .conflict, write.entityTag != nil else { return nil }
            return Replacement(key: write.key, data: write.data, base: current ?? write.base)
        case .replace(let new): data = new
        case .merge:
            guard let current, let ours = write.data else {
                throw FeathersError(
                    .conflict, "The write '\(write.id.text)' cannot be merged: the server's record is not known", execution: .neverSent)
            }
            data = ours.merged(since: write.base, with: current, isWhole: write.method == .update)
        }
        if write.method == .create, let property = options.service(at: write.path).recordIDProperty, data.object != nil,
            data[property] == nil, let id = write.data?[property]
        {
            data[property] = id
        }
        return Replacement(key: .new, data: data, base: current ?? write.base, tag: item.failure?.entityTag)
    }
}

extension FeathersError {
    init(notInOutbox id: UUID) { self.init(.notFound, "The outbox does not contain the write '\(id.text)'", execution: .neverSent) }
}

// MARK: - Installing

extension FeathersApp {
    /// Installs an outbox. Its writes are sent while the app is running: during ``FeathersApp/run()`` and ``withFeathersApp(_:_:)``.
    /// - Throws: ``FeathersError/Code/conflict`` if the app already has an outbox.
    public func use(outbox: Outbox) throws {
        guard self[InstalledOutbox.self] == nil else {
            throw FeathersError(.conflict, "The app already has an outbox", execution: .neverSent)
        }
        self[InstalledOutbox.self] = outbox
        let app = weakReference
        outbox.withState { $0.app = app }
        observeIdentity { identity in
            outbox.change { state in
                state.queue.identityChanged(to: identity)
                state.republish()
            }
        }
        for method in [ServiceMethod.get, .update, .patch, .remove] {
            use(TagMiddleware(outbox: outbox), for: .method(method))
        }
        use(backgroundWork: { app in await outbox.run(in: app) })
    }

    /// The app's outbox, if any.
    public var outbox: Outbox? { self[InstalledOutbox.self] }

    private enum InstalledOutbox: AppSetting { typealias Value = Outbox }
}

extension DiagnosticDomain {
    /// Messages about the outbox.
    public static let outbox = DiagnosticDomain(rawValue: "outbox")
}
