import FeathersCore
import FeathersSupport

/// Shows the records that look like those of creations in flight after one to two seconds, also without a response.
/// Dropping it cancels that.
final class LiveLookAlikes: Sendable {
    private let task: Task<Void, Never>

    private init(_ task: Task<Void, Never>) { self.task = task }

    /// - Returns: Nil if nothing waits to be shown.
    static func begin(_ window: LiveWindow, _ clock: any Clock<Duration>) -> LiveLookAlikes? {
        let begins = window.withState { store, reader in
            guard !store.lookAlikes.isEmpty, !reader.awaitsLookAlikes else { return false }
            reader.awaitsLookAlikes = true
            return true
        }
        guard begins else { return nil }
        return LiveLookAlikes(
            Task { [weak window] in
                while let newest = window?.withState({ store, reader in
                    reader.awaitsLookAlikes = !store.lookAlikes.isEmpty
                    return store.newestLookAlike
                }) {
                    do { try await clock.sleep(for: .seconds(1)) } catch { return }
                    window?.change { store, _ in store.endLookAlikes(through: newest) }
                }
            })
    }

    deinit { task.cancel() }
}
