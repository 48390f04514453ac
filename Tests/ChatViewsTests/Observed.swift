import Observation

/// Suspends until a condition on observed properties holds, as a view does that shows them.
@MainActor
func observed(_ condition: () -> Bool) async {
    while !condition() {
        // Told before the change, resumed after it: both happen on the main actor.
        await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = condition()
            } onChange: {
                continuation.resume()
            }
        }
    }
}
