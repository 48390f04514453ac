import Dispatch
import Foundation

/// An exclusive lock on a directory across all tasks and processes. The system releases it when the process that holds
/// it exits.
///
/// While the lock is held elsewhere, one thread waits for it in the system on behalf of all waiting tasks, in their
/// order. A task that gives up leaves the queue. The thread waits until the lock is free, and then releases it. There
/// is never more than one such thread for each instance.
package final class DirectoryLock: Sendable {
    /// The directory and the lock file.
    package struct Held: Sendable {
        package let directory: SafeDirectory
        package let file: OpenFile
    }

    private struct Line: Sendable {
        var waiters: [Promise<Held>] = []
        /// Whether the thread is waiting for the queued tasks.
        var isServed = false
    }

    private let path: String
    private let name: String
    private let clock: RelativeClock
    private let line = Locked(Line())
    /// The directory that was last locked, kept open.
    private let directory = Locked<SafeDirectory?>(nil)
    private let queue = DispatchQueue(label: "feathers.directory-lock")

    /// Does not access the file system. The directory is created when it is first needed.
    package init(path: String, name: String, clock: RelativeClock = RelativeClock(ContinuousClock())) {
        (self.path, self.name, self.clock) = (path, name, clock)
    }

    /// Runs the body with the lock held.
    /// - Throws: ``FileFailure`` if the lock is not released in time, `CancellationError` if the task is cancelled
    ///   while waiting.
    package func withLock<Value>(waitingAtMost limit: Duration, _ body: (Held) throws -> Value) async throws -> Value {
        let held = try await acquire(waitingAtMost: limit)
        defer { held.file.unlock() }
        return try body(held)
    }

    /// Acquires the lock for work that may suspend. Unlock the file to release it.
    /// - Throws: ``FileFailure`` if the lock is not released in time, `CancellationError` if the task is cancelled
    ///   while waiting.
    package func lock(waitingAtMost limit: Duration) async throws -> OpenFile {
        try await acquire(waitingAtMost: limit).file
    }

    private func acquire(waitingAtMost limit: Duration) async throws -> Held {
        if let held = try take(waits: false) { return held }
        let waiter = Promise<Held>()
        let isFirst = line.withLock { line in
            line.waiters.append(waiter)
            defer { line.isServed = true }
            return !line.isServed
        }
        if isFirst { queue.async { self.serve() } }
        do {
            return try await clock.run(atMost: limit, orThrow: FileFailure("\(self.path)/\(self.name)", .locked)) {
                try await waiter.value()
            }
        } catch {
            line.withLock { $0.waiters.removeAll { $0 === waiter } }
            // The lock may have been acquired at the last moment.
            if !waiter.fail(error) { waiter.current?.file.unlock() }
            throw error
        }
    }

    /// Acquires the lock for the waiting tasks until none are left.
    private func serve() {
        while line.withLock({ line in
            line.isServed = !line.waiters.isEmpty
            return line.isServed
        }) {
            do {
                guard let held = try take(waits: true) else { continue }
                if nextWaiter()?.resolve(held) != true { held.file.unlock() }
            } catch {
                nextWaiter()?.fail(error)
            }
        }
    }

    private func nextWaiter() -> Promise<Held>? {
        line.withLock { $0.waiters.isEmpty ? nil : $0.waiters.removeFirst() }
    }

    /// - Returns: Nil if the lock is held elsewhere.
    private func take(waits: Bool) throws -> Held? {
        for _ in 0..<10 {
            let previous = directory.withLock(\.self)
            let opened = try SafeDirectory.make(path, reusing: previous)
            if opened !== previous { directory.withLock { $0 = opened } }
            do {
                guard let file = try opened.lock(name, waits: waits) else { return nil }
                // If the directory was removed in the meantime, the lock protects nothing.
                if try !file.isRemoved { return Held(directory: opened, file: file) }
            } catch let failure as FileFailure where failure.reason == .system(ENOENT) {
                // The directory was removed between the two steps.
            }
        }
        throw FileFailure(path, .system(ENOENT))
    }
}
