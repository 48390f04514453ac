/// How long the inside of a hook pipeline may take, on which clock.
struct Deadline: Sendable {
    let duration: Duration
    let clock: any Clock<Duration>

    /// Runs a call and gives it up when its time has passed.
    ///
    /// The call runs in a child task, which is cancelled and awaited: one that ignores cancellation is waited for.
    /// - Throws: ``FeathersError/Code/timeout`` naming the method and the service.
    func enforce(on context: inout HookContext, _ call: @Sendable @escaping (inout HookContext) async throws -> Void) async throws {
        let start = context
        let (duration, clock) = (duration, clock)
        context = try await withThrowingTaskGroup(of: HookContext?.self) { group in
            group.addTask {
                var context = start
                try await call(&context)
                return context
            }
            group.addTask {
                try await clock.sleep(for: duration)
                return nil
            }
            defer { group.cancelAll() }
            guard case let finished?? = try await group.next() else {
                throw FeathersError(
                    .timeout, "'\(start.method)' on service '\(start.path)' took longer than \(duration)", execution: .mayHaveExecuted)
            }
            return finished
        }
    }
}
