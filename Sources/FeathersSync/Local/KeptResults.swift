import FeathersCore
import FeathersSupport
import Foundation

/// The last results of live queries, a file each, read and written on a dedicated thread.
actor KeptResults {
    /// A changed result that must be written.
    private enum Change: Sendable {
        /// Retained until it is written, so that a query that has just ended is kept too.
        case window(LiveWindow)
        /// Taken while the app is not running, so that the query is not retained.
        case result(KeptResult)
    }

    private struct Waiting: Sendable {
        var changes: [KeptResultKey: Change] = [:]
        var wake: AsyncStream<Void>.Continuation?
        /// The users whose results must be removed.
        var leavers: Set<Identity> = []
        var user: Identity?
        /// Removes the results of users who leave while the app is not running.
        var removal: Task<Void, Never>?
    }

    static let suffix = ".kept"
    /// The suffixes of files of earlier versions, which contain values of header fields, and of their drafts.
    private static let oldSuffixes = [".result", ".result.new"]

    private let store: LocalStore
    private let outboxFile: URL
    /// Nil if another process writes the store.
    private let outbox: Outbox?
    private let path: String
    nonisolated let clock: RelativeClock
    nonisolated let responseDelay: Duration
    private nonisolated let waiting = Locked(Waiting())
    private let executor = DiskExecutor(label: "feathers.local-store")
    private var directory: SafeDirectory?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ store: LocalStore, outboxFile: URL, _ outbox: Outbox?) {
        (self.store, self.outboxFile, self.outbox) = (store, outboxFile, outbox)
        path = store.folder.appending(path: "results", directoryHint: .isDirectory).path
        (clock, responseDelay) = (RelativeClock(store.clock), store.responseDelay)
    }

    // MARK: Reading

    /// Puts the last result of a query into its window, completed by the results of executed writes, and in a store of
    /// another process the queued writes too.
    func restore(
        _ key: KeptResultKey, into window: LiveWindow, _ diagnostics: Diagnostics,
        reading read: @escaping KeptResult.PartReader
    ) async {
        let stored = outbox == nil ? showWrites(key, in: window, diagnostics) : nil
        let result = await self.read(key, diagnostics, read)
        let executed = await executedWrites(at: key.path, diagnostics) ?? stored ?? ExecutedWrites()
        window.withState { store, _ in
            // A fetch may have been faster.
            guard let state = store.windows[window.id], state.source != .server, window.sender.isCurrent else { return }
            if let result { store.restored(result, in: window.id) }
            let (date, unsettled) = (result?.date ?? .distantPast, result?.unsettled ?? [])
            for write in executed.missing(at: key.path, key.identity, since: date, unsettled)
            where write.write.route == window.store.key.route {
                store.restored(write, in: window.id)
            }
        }
    }

    private func read(
        _ key: KeptResultKey, _ diagnostics: Diagnostics, _ read: @escaping KeptResult.PartReader
    ) async -> KeptResult? {
        let name = key.fileName + Self.suffix
        do {
            guard let bytes = try openDirectory()?.open(name)?.readAll(atMost: KeptResult.maximumLength) else {
                return nil
            }
            return try await KeptResult(bytes, of: key, reading: read)
        } catch {
            diagnostics.log(
                .warning, .localStore,
                "The kept result of service '\(key.path)' cannot be used and is ignored: \(error)",
                [.path: .string(key.path)], error: error)
            return nil
        }
    }

    /// - Returns: The writes that were executed last; nil in a store of another process, or if they cannot be read.
    private func executedWrites(at path: String, _ diagnostics: Diagnostics) async -> ExecutedWrites? {
        do { return try await outbox?.executed(at: path) } catch {
            diagnostics.log(
                .warning, .localStore, "The executed writes cannot be read and are not shown: \(error)",
                [.path: .string(path)], error: error)
            return nil
        }
    }

    /// - Returns: The writes that were executed last.
    private func showWrites(_ key: KeptResultKey, in window: LiveWindow, _ diagnostics: Diagnostics)
        -> ExecutedWrites?
    {
        do {
            let contents = try Journal.peek(at: outboxFile, service: key.path)
            var queue = OutboxQueue(limit: 1, retry: OutboxRetry())
            queue.identityChanged(to: key.identity)
            for stored in contents.writes {
                // Whatever its outcome, another process deals with it.
                queue.restore(stored, isKeyed: true)
            }
            let items = queue.writes(for: window.store)
            window.withState { store, _ in store.replaceQueue(items) }
            return contents.executed
        } catch {
            diagnostics.log(
                .warning, .localStore,
                "The queued writes of '\(outboxFile.path)' cannot be read and are not shown: \(error)", error: error)
            return nil
        }
    }

    private func openDirectory() throws -> SafeDirectory? {
        if let directory { return directory }
        directory = try store.isReadOnly ? SafeDirectory.open(path) : SafeDirectory.make(path)
        return directory
    }

    // MARK: Writing

    /// Records that a result has changed. It is written after a delay.
    nonisolated func changed(_ window: LiveWindow, _ key: KeptResultKey) {
        guard !store.isReadOnly else { return }
        let (isRunning, wake) = waiting.withLock { waiting -> (Bool, AsyncStream<Void>.Continuation?) in
            guard let wake = waiting.wake else { return (false, nil) }
            defer { waiting.changes[key] = .window(window) }
            return (true, waiting.changes.isEmpty ? wake : nil)
        }
        wake?.yield()
        guard !isRunning, let result = KeptResult(window) else { return }
        let late = waiting.withLock { waiting -> AsyncStream<Void>.Continuation? in
            // Before the app runs, a few results are enough.
            if waiting.changes.count < 64 || waiting.changes[key] != nil { waiting.changes[key] = .result(result) }
            return waiting.wake
        }
        late?.yield()
    }

    /// Records a sign-in or a log-out, so that the results of a user who has left are removed: while the app is running
    /// by its background work, otherwise by a task of this object's.
    nonisolated func userChanged(to identity: Identity?, _ diagnostics: @escaping @Sendable () -> Diagnostics?) {
        let change: (wake: AsyncStream<Void>.Continuation?, removal: Task<Void, Never>?)? = waiting.withLock {
            waiting in
            defer { waiting.user = identity }
            guard let user = waiting.user, user != identity else { return nil }
            waiting.leavers.insert(user)
            return (waiting.wake, waiting.removal)
        }
        guard let (wake, earlier) = change else { return }
        if let wake {
            wake.yield()
            return
        }
        let removal = Task {
            await earlier?.value
            if let diagnostics = diagnostics() { await self.removeLeavers(diagnostics) }
        }
        // The app reports one change at a time, so no other task has been stored meanwhile.
        waiting.withLock { $0.removal = removal }
    }

    /// Waits for the removal of the results of users who have left while the app was not running.
    nonisolated func removed() async { await waiting.withLock { $0.removal }?.value }

    /// Writes changed results until the task is cancelled, and then the last ones.
    nonisolated func run(reportingTo diagnostics: Diagnostics) async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        waiting.withLock { $0.wake = wake }
        wake.yield()
        for await _ in wakes {
            await removeLeavers(diagnostics)
            try? await clock.sleep(for: store.writeDelay)
            await write(diagnostics)
        }
        waiting.withLock { $0.wake = nil }
        await removeLeavers(diagnostics)
        await write(diagnostics)
    }

    /// Writes the changed results.
    func write(_ diagnostics: Diagnostics) {
        let changes = waiting.withLock { waiting in
            defer { waiting.changes = [:] }
            return waiting.changes
        }
        guard !changes.isEmpty else { return }
        for (key, change) in changes {
            do {
                let current: KeptResult? =
                    switch change {
                    case .window(let window): KeptResult(window)
                    case .result(let result): result
                    }
                guard let result = current else { continue }
                let bytes = try result.bytes(of: key)
                let name = key.fileName + Self.suffix
                try openDirectory()?.replace(name, with: bytes, draft: "\(name).new")
            } catch {
                let isExpected = if case KeptResult.Failure.tooLarge = error { true } else { false }
                diagnostics.log(
                    isExpected ? .notice : .warning, .localStore,
                    "A result of service '\(key.path)' cannot be kept: \(error)",
                    [.path: .string(key.path)], error: error)
            }
        }
        do { try makeRoom() } catch {
            diagnostics.log(.warning, .localStore, "Old results cannot be removed: \(error)", error: error)
        }
    }

    private func makeRoom() throws {
        guard let directory = try openDirectory() else { return }
        var files = try directory.files(withSuffix: Self.suffix)
        var size = files.reduce(0) { $0 + $1.size }
        guard size > store.maximumSize else { return }
        files.sort { $0.lastChange < $1.lastChange }
        for file in files where size > store.maximumSize {
            try directory.remove(file.name)
            size -= file.size
        }
    }

    // MARK: Removing

    /// Removes the files of earlier versions.
    /// - Throws: An error that names a file that cannot be removed.
    func removeOldFiles() throws {
        guard !store.isReadOnly, let directory = try SafeDirectory.open(path) else { return }
        for suffix in Self.oldSuffixes {
            for file in try directory.files(withSuffix: suffix) { try directory.remove(file.name) }
        }
    }

    /// Removes the results of a user, those of executed writes included; of all users if it is nil.
    /// - Throws: The first error, after everything that can be removed has been.
    func remove(of identity: Identity?) async throws {
        guard !store.isReadOnly else {
            throw FeathersError.refused("The kept results cannot be removed: the local store is read-only")
        }
        waiting.withLock { $0.changes = $0.changes.filter { identity != nil && $0.key.identity != identity } }
        let prefix = identity.map(KeptResultKey.prefix) ?? ""
        var failure: (any Error)?
        do {
            let directory = try openDirectory()
            for file in try directory?.files(withSuffix: Self.suffix) ?? [] where file.name.hasPrefix(prefix) {
                do { try directory?.remove(file.name) } catch { failure = failure ?? error }
            }
        } catch {
            failure = error
        }
        do { try await outbox?.removeResults(of: identity) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    private func removeLeavers(_ diagnostics: Diagnostics) async {
        let leavers = waiting.withLock { waiting in
            defer { waiting.leavers = [] }
            return waiting.leavers
        }
        for identity in leavers {
            do {
                try await remove(of: identity)
            } catch {
                diagnostics.log(
                    .error, .localStore, "The results of a user who logged out cannot be removed: \(error)",
                    error: error)
            }
        }
    }
}
