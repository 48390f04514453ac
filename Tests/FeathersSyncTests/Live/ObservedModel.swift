import FeathersSupport
import FeathersSync
import Observation

extension LiveQueryModel {
    /// Observes the model as a view does, until the condition holds.
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(until condition: (LiveQueryModel) -> Bool) async throws {
        while true {
            let changed = Promise<Void>()
            let isMet = withObservationTracking {
                condition(self)
            } onChange: {
                changed.resolve(())
            }
            if isMet { return }
            try await changed.value()
        }
    }
}
