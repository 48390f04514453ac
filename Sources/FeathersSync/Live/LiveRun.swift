// Locks: No lock: works come through a stream, and each one takes the lock of the store itself.

import FeathersCore
import FeathersSupport

/// What is done for a window while its query is read, in one task: fetches, showing what is known after a silence,
/// opening and following a stored list. Dropping it ends all of that.
///
/// A fetch in flight retains the service and its app, as the query does, but neither the query nor its iterator.
final class LiveRun: Sendable {
    private let works: AsyncStream<@Sendable () async -> Void>.Continuation
    private let task: Task<Void, Never>

    init() {
        let (stream, works) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        self.works = works
        task = Task {
            await withDiscardingTaskGroup { group in
                for await work in stream { group.addTask { await work() } }
                group.cancelAll()
            }
        }
    }

    deinit { task.cancel() }

    func add(_ work: @escaping @Sendable () async -> Void) { works.yield(work) }

    /// Shows what is known, even if that is nothing, once a server has had some time to respond.
    func showAfterSilence(_ window: LiveWindow, _ lists: StoredLists) {
        let (clock, delay) = (lists.clock, lists.store.responseDelay)
        add { [weak window] in
            do { try await clock.sleep(for: delay) } catch { return }
            window?.change { _, reader in reader.isUnreachable = true }
        }
    }

    /// Shows the records that look like those of creations in flight after one to two seconds, also without a response.
    func showLookAlikes(_ window: LiveWindow, _ clock: any Clock<Duration>) {
        let begins = window.withState { store, reader in
            guard !store.lookAlikes.isEmpty, !reader.awaitsLookAlikes else { return false }
            reader.awaitsLookAlikes = true
            return true
        }
        guard begins else { return }
        add { [weak window] in
            while let newest = window?.withState({ store, reader in
                reader.awaitsLookAlikes = !store.lookAlikes.isEmpty
                return store.newestLookAlike
            }) {
                do { try await clock.sleep(for: .seconds(1)) } catch { return }
                window?.change { store, _ in store.endLookAlikes(through: newest) }
            }
        }
    }
}
