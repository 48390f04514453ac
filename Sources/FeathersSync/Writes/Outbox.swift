public import FeathersCore
public import FeathersSupport
public import Foundation

/// Stores writes in a file until the server has executed them. Writes made offline are sent later, in order, even by a
/// later process.
///
/// ```swift
/// let outbox = try await Outbox(file: folder.appending(path: "writes.outbox"))
/// try app.use(outbox: outbox)
/// try await app.service("messages").outbox.create(["text": "Hi"])
/// ```
///
/// An accepted write is stored on disk until the server has responded or you discard it. Writes are sent while the app
/// is running, through all of the app's hooks.
///
/// One outbox serves all users of an app. Each write is sent on behalf of the user who queued it, and waits while
/// another user is signed in. One that was queued while no one was signed in belongs to the next user who signs in.
///
/// The file contains the writes' data, unencrypted and readable only by its owner. It contains no header fields: hooks
/// must add whatever else a call needs, such as the token. Use one outbox for each file, and one app for each outbox.
///
/// An outbox holds at most 100,000 writes with 256 MiB of data, and refuses more.
public final class Outbox: Sendable, SecretHiding {
    struct State: Sendable {
        var queue: OutboxQueue
        /// The app that the outbox is installed in.
        var app: WeakApp?
        /// The results that callers can await.
        var results: [UUID: Promise<JSONValue>] = [:]
        /// The running sender: the stream that wakes it, and the promise that is settled when it has ended.
        var sender: (wake: AsyncStream<Void>.Continuation, ended: Promise<Void>)?
        /// The local data that shows the writes.
        var stores = OutboxStores()
        var names = Names()
        var tags = EntityTags()
        /// The results of writes that have ended, to be settled outside the lock.
        var settled: [(promise: Promise<JSONValue>, result: Result<JSONValue, any Error>)] = []
    }

    let outboxOptions: OutboxOptions
    let timebase: RelativeClock
    let journal: JournalWriter
    /// The name of the file of an earlier version of this package that was set aside, if there was one.
    private let earlierFile: String?
    private let lockedState: Locked<State>
    private let subscribers = Subscribers<Void>()

    /// Opens an outbox, or creates one.
    /// - Parameters:
    ///   - file: The file for the writes, a SQLite database, created with mode 0600. Its folder is created if needed.
    ///     More files whose names begin with its name appear next to it, and belong to it.
    ///   - configure: Changes the options of the outbox.
    /// - Throws: ``FeathersError`` naming the file if another outbox uses it, if it cannot be read or written, if it
    ///   holds too many writes, if it is damaged, if ``OutboxOptions/migrate`` throws, or if SQLite is missing. In each
    ///   case, nothing was removed.
    public convenience init(file: URL, _ configure: (inout OutboxOptions) -> Void = { _ in }) async throws {
        guard file.isFileURL, !file.hasDirectoryPath else {
            throw FeathersError(
                .badRequest, "An outbox needs the URL of a file, not '\(file.path)'", execution: .neverSent)
        }
        let options = OutboxOptions(configure)
        try await self.init(on: JournalWriter(file, logClock: options.logClock), options)
    }

    init(on journal: JournalWriter, _ options: OutboxOptions) async throws {
        var options = options
        options.services = Dictionary(
            options.services.map { (FeathersApp.stripSlashes($0.key), $0.value) },
            uniquingKeysWith: { first, _ in first })
        self.outboxOptions = options
        timebase = RelativeClock(options.clock)
        self.journal = journal
        var queue = OutboxQueue(limit: options.concurrentLanes, retry: options.retry)
        var results: [UUID: Promise<JSONValue>] = [:]
        let (pending, names) = try await Self.open(journal, options)
        earlierFile = await journal.earlierFile
        for stored in pending {
            queue.restore(
                stored, isKeyed: options.service(at: stored.write.path).recognizesRepetition(of: stored.write))
            results[stored.write.id] = Promise()
        }
        queue.referToLaterCreations()
        var state = State(queue: queue, results: results, names: names)
        for item in queue.inOrder { state.names.add(item.write, options) }
        lockedState = Locked(state)
    }

    fileprivate func reportEarlierFile(to diagnostics: Diagnostics) {
        guard let earlierFile else { return }
        diagnostics.log(
            .warning, .outbox,
            "The file '\(journal.file.path)' was written by an earlier version of this package, which stored records in "
                + "another way. It is set aside as '\(earlierFile)', with the writes that it contains")
    }

    /// Closes the file, so that another outbox can use it. Later writes are refused.
    ///
    /// Shut down the app first: a response that arrives after closing cannot be recorded.
    public func close() async { await journal.close() }

    /// The current state of the outbox.
    public var state: OutboxState {
        let (queue, app, stores) = lockedState.withLock { ($0.queue, $0.app?.app, $0.stores) }
        // The app has a new user slightly before the outbox is notified.
        var state = OutboxState(queue, of: app.map(\.identity) ?? queue.identity, at: timebase.now)
        for index in state.entries.indices {
            if let failure = state.entries[index].failure {
                state.entries[index].failure = stores.offeringCandidates(failure)
            }
        }
        return state
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
    /// - Throws: ``FeathersError/Code/notFound`` if the write is not in the outbox, the failure it was discarded with,
    ///   or `CancellationError`.
    public func result(of id: UUID) async throws -> JSONValue {
        guard let result = lockedState.withLock({ $0.results[id] }) else { throw FeathersError(notInOutbox: id) }
        return try await result.value()
    }

    /// Ends all delays, and retries immediately the writes that wait because the server could not be reached, required
    /// a sign-in, or deferred them.
    ///
    /// Call this when your app detects that the network is back, enters the foreground, or signs in without this
    /// package.
    public func retryNow() { changeState { $0.queue.retryNow() } }

    /// Sends the pending writes of the signed-in user, for at most some time. Use it in background tasks.
    ///
    /// The app must be running. Returns early if everything is sent, if all that is left needs a decision, or if the
    /// server requires a sign-in.
    /// - Returns: The writes that are left. They are sent later, also by a later process.
    /// - Throws: `CancellationError` if the task is cancelled.
    @discardableResult
    public func flush(within limit: Duration) async throws -> [OutboxEntry] {
        retryNow()
        let timeout = FeathersError(.timeout, "The writes could not be sent in time", execution: .neverSent)
        do {
            try await timebase.run(atMost: limit, orThrow: timeout) {
                // The writes of the stored token's user wait until the token has been read.
                let app = self.withState { $0.app?.app }
                _ = await app?.resolvedIdentity()
                // Without the states, which list all writes.
                for await _ in self.subscribers.stream(bufferingNewest: 1, first: ()) {
                    // The app has a new user slightly before the outbox is notified.
                    let identity = app?.identity
                    if self.withState({ $0.queue.isAtRest && (app == nil || $0.queue.identity == identity) }) { return }
                }
                try Task.checkCancellation()
            }
        } catch is FeathersError {}
        return state.entries
    }

    /// Sends writes until the task is cancelled. If the outbox is already sending, waits until that ends, and
    /// continues.
    ///
    /// ``FeathersApp/use(outbox:)`` calls it while the app is running. If your app calls ``FeathersApp/connect()``
    /// instead, call it yourself.
    public func run(in app: FeathersApp) async {
        await app.asOwnWork { await OutboxSender(outbox: self, app: app).run() }
    }

    /// Changes the state without notifying anyone.
    func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { lockedState.withLock(body) }

    /// Changes the state, then notifies subscribers and the sender, outside the lock.
    @discardableResult
    func changeState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        let (result, wake, stores, settled) = try lockedState.withLock { state in
            let result = try body(&state)
            defer { state.settled = [] }
            return (result, state.sender?.wake, state.stores.takeChanged(), state.settled)
        }
        for store in stores { store.wake() }
        for (promise, result) in settled {
            switch result {
            case .success(let value): promise.resolve(value)
            case .failure(let error): promise.fail(error)
            }
        }
        subscribers.yield(())
        wake?.yield()
        return result
    }
}

// MARK: - Adding

extension Outbox {
    /// Accepts a write. Returns once it is on disk.
    /// - Throws: ``FeathersError`` with the reason why the write is not in the outbox.
    func addDraft(_ draft: Draft, path: String, as identity: Identity?) async throws -> QueuedWrite<JSONValue> {
        var draft = draft
        draft.complete(outboxOptions.service(at: path))
        if let collected = try await collect(draft, at: path, as: identity) { return collected }
        draft = try withState { [draft] state in Result { try state.resolved(draft, at: path, as: identity) } }.get()
        if let squashed = try await squash(draft, path, identity) { return squashed }
        let write = withState { [draft] in $0.write(draft, at: path, as: identity) }
        let outcome = Promise<JSONValue>()
        try await recordEvent(.queued([write]), [write.id: outcome])
        return QueuedWrite(write: write, outcomePromise: outcome) { $0 }
    }
}

// MARK: - Squashing

extension Outbox {
    /// Adds a patch to the last write of its lane, if that is a patch of the same record that has not been sent.
    /// - Returns: The write with both patches; nil if the patch must be queued by itself.
    private func squash(_ draft: Draft, _ path: String, _ identity: Identity?) async throws
        -> QueuedWrite<JSONValue>?
    {
        guard outboxOptions.squashesPatches, draft.method == .patch, let changes = draft.data, changes.object != nil
        else {
            return nil
        }
        let lane = draft.lane(at: path)
        let taken: (write: OutboxWrite, outcome: Promise<JSONValue>)? = changeState { state in
            guard let last = state.queue.lastUnsentPatch(in: OutboxQueue.Lane(name: lane, identity: identity)),
                let outcome = state.results[last.id],
                last.path == path, last.recordID == draft.recordID, last.query == draft.query,
                last.route == draft.route,
                last.identity == identity, (try? state.queue.decisionBegan(last.id)) != nil
            else { return nil }
            return (last, outcome)
        }
        guard let (last, outcome) = taken, let data = last.data?.applying(changes) else { return nil }
        do {
            try await recordEvent(
                .decided(last.id, Replacement(key: last.key, data: data, base: last.base, tag: last.entityTag)))
        } catch {
            changeState { $0.queue.decisionFailed(last.id) }
            throw error
        }
        guard let write = withState({ $0.queue.items[last.id]?.write }) else { return nil }
        return QueuedWrite(write: write, outcomePromise: outcome) { $0 }
    }
}

// MARK: - Installing

extension FeathersApp {
    /// Installs an outbox. Its writes are sent while the app is running: during ``FeathersApp/run()`` and
    /// ``withFeathersApp(_:_:)``.
    /// - Throws: ``FeathersError/Code/conflict`` if the app already has an outbox, and
    ///   ``FeathersError/Code/badRequest`` if the server finds the keys of writes only in a header field, which the
    ///   app's transport cannot send.
    public func use(outbox: Outbox) throws {
        guard self[InstalledOutbox.self] == nil else {
            throw FeathersError(.conflict, "The app already has an outbox", execution: .neverSent)
        }
        // A registered service has its own transport.
        let services = outbox.outboxOptions.services.filter { !isPathTaken($0.key) }.values
        guard callsCarryCredentials || !(services + [outbox.outboxOptions.standard]).contains(where: \.needsHTTP) else {
            throw FeathersError.unsentKeys
        }
        self[InstalledOutbox.self] = outbox
        outbox.reportEarlierFile(to: diagnostics)
        let app = weakReference
        outbox.withState { $0.app = app }
        observeIdentity { identity in
            outbox.changeState { state in
                state.queue.identityChanged(to: identity)
                state.stores.republish(state.queue)
            }
        }
        for method in [ServiceMethod.get, .update, .patch, .remove] {
            use(TagMiddleware(outbox: outbox), for: .method(method))
        }
        use(NameMiddleware(outbox: outbox))
        use(backgroundWork: { app in await outbox.run(in: app) })
    }

    /// The app's outbox, if any.
    public var outbox: Outbox? { self[InstalledOutbox.self] }

    /// - Throws: ``FeathersError/Code/notImplemented`` if the app has no outbox.
    func requiredOutbox() throws(FeathersError) -> Outbox {
        if let outbox { return outbox }
        throw FeathersError(
            .notImplemented, "The app has no outbox: install one with 'use(outbox:)'", execution: .neverSent)
    }

    private enum InstalledOutbox: AppSetting { typealias Value = Outbox }
}

extension DiagnosticDomain {
    /// Messages about the outbox.
    public static let outbox = DiagnosticDomain(rawValue: "outbox")
}
