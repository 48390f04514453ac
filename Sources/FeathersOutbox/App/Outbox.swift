public import FeathersCore
import FeathersSupport
public import Foundation

/// Keeps writes in a file until the server has them: made offline they are sent later, in order, also by another process.
///
/// ```swift
/// let outbox = try await Outbox(file: folder.appending(path: "writes.outbox"))
/// try app.useOutbox(outbox)
/// try await app.service("messages").outbox.create(["text": "Hi"])
/// ```
///
/// A write that was accepted is on the disk, and stays there until the server has answered or somebody has given it up. It is sent while
/// the app lives, through all of its hooks. The file holds the writes' data, unencrypted and readable by its owner alone, and no header fields: what a call needs besides
/// must come from hooks, as the token does. One outbox at a time uses a file, and one outbox serves one app.
public final class Outbox: Sendable {
    struct State: Sendable {
        var queue: OutboxQueue
        /// What those who wait for results wait for.
        var results: [UUID: Promise<JSONValue>] = [:]
        /// Told when there may be something to send; nil where nobody sends.
        var wake: AsyncStream<Void>.Continuation?
    }

    let options: OutboxOptions
    let timebase: RelativeClock
    let journal: JournalWriter
    private let contents: Locked<State>
    private let subscribers = Subscribers<Void>()

    /// Opens an outbox, or begins one.
    /// - Parameters:
    ///   - file: where the writes are; made with mode 0600, its folder too where it is missing. Two more files may come beside it.
    ///   - configure: changes how it sends.
    /// - Throws: ``FeathersError`` naming the file where another outbox uses it, it can not be read or written, or it is damaged, and then the byte
    ///   where. A write that a dying process left half-written was never accepted, and is dropped.
    public convenience init(file: URL, _ configure: (inout OutboxOptions) -> Void = { _ in }) async throws {
        guard file.isFileURL, !file.hasDirectoryPath else {
            throw FeathersError(.badRequest, "'\(file.path)' names no file for an outbox", execution: .neverSent)
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
        for stored in try await journal.open().inOrder {
            queue.restore(stored, isKeyed: options.service(at: stored.write.path).knowsRepetition(of: stored.write))
            results[stored.write.id] = Promise()
        }
        contents = Locked(State(queue: queue, results: results))
    }

    /// Closes the file, so that another outbox may use it; what is handed in afterwards is refused.
    ///
    /// End the app's life first: an answer that comes later can not be noted any more.
    public func close() async {
        await journal.close()
    }

    /// How the outbox is.
    public var state: OutboxState { OutboxState(contents.withLock { $0.queue }) }

    /// How the outbox is, and then what it has become after each change.
    public func stateUpdates() -> OutboxStates { OutboxStates(outbox: self) }

    /// Waits for the result of a write that is in the outbox, an earlier process' too.
    /// - Throws: ``FeathersError/Code/notFound`` where it is not there, or no longer; the failure it was given up with; `CancellationError` when cancelled.
    public func result(of id: UUID) async throws -> JSONValue {
        guard let result = contents.withLock({ $0.results[id] }) else {
            throw FeathersError(.notFound, "No write \(id.text) is in the outbox", execution: .neverSent)
        }
        return try await result.value()
    }

    /// Tries the server again at once, where it could not be reached or wanted somebody signed in: for apps that know that the network is
    /// back, or that sign in by other means than this package's.
    public func resume() {
        change { $0.queue.changeGate { $0.resume() } }
    }

    /// Changes the state and tells nobody.
    func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { contents.withLock(body) }

    /// Changes the state and tells everybody, outside the lock.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
        let (result, wake) = try contents.withLock { state in (try body(&state), state.wake) }
        subscribers.yield(())
        wake?.yield()
        return result
    }

    /// Tells of every change, the first time at once.
    func changes() -> AsyncStream<Void> { subscribers.stream(buffering: 1, first: ()) }
}
