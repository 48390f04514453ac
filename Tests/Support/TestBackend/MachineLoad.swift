/// The load of the machine the tests run on.
public enum MachineLoad {
    /// How late a task may be woken on a machine that is not overloaded.
    private static let tolerance = Duration.milliseconds(30)

    /// Waits until tasks are woken in time, for tests of promises about seconds: a test run starts all its tests at
    /// once, and for its first seconds nothing happens in time. Returns after a minute in any case, so that a slow
    /// machine still runs the test.
    public static func settles() async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        var inTime = 0
        while inTime < 10, clock.now < end {
            let wake = clock.now + .milliseconds(20)
            try await clock.sleep(until: wake, tolerance: nil)
            inTime = clock.now - wake < tolerance ? inTime + 1 : 0
        }
    }
}
