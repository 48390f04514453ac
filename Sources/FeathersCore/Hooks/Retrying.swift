import FeathersSupport

extension Hooks {
    /// Returns hooks that retry calls that failed because the server was unavailable or busy, if a retry is safe.
    ///
    /// `find`, `get` and read-only endpoints are retried after any ``FeathersError/Code/unavailable`` or
    /// ``FeathersError/Code/tooManyRequests``. Other calls are retried only if they were *never sent*. The delay is
    /// slightly longer than the server requests (``FeathersError/retryAfter``). Otherwise the maximum delay doubles
    /// each time, and the actual delay is random between half of it and all of it, so that clients do not retry in
    /// step. A call with `params.timeout` has that time for all attempts. If a delay would exceed that time, or the
    /// server requests more than `longestPause`, the call fails immediately with the server's error.
    /// - Parameters:
    ///   - attempts: The maximum number of attempts, at least 1.
    ///   - pause: The upper limit of the first delay.
    ///   - longestPause: The upper limit of all delays.
    ///   - refusedWrites: Whether to retry every call that the server *rejected* with 429, or with 503 and
    ///     `Retry-After`. Such a response should mean that nothing was executed. Set this only if your server
    ///     guarantees it.
    ///   - budget: The number of retries for each call, on average, so that a slow server does not get several times
    ///     the load. Each service has 10 retries more, for a short failure. Without budget, a call fails immediately
    ///     with the server's error.
    public static func retrying(
        attempts: Int = 3, pause: Duration = .milliseconds(200), longestPause: Duration = .seconds(30),
        refusedWrites: Bool = false, budget: Double = 0.2
    ) -> Hooks {
        retrying(
            attempts: attempts, pause: pause, longestPause: longestPause, refusedWrites: refusedWrites, budget: budget,
            clock: ContinuousClock())
    }

    package static func retrying(
        attempts: Int = 3, pause: Duration = .milliseconds(200), longestPause: Duration = .seconds(30),
        refusedWrites: Bool = false, budget: Double = 0.2,
        clock: any Clock<Duration>
    ) -> Hooks {
        let (timebase, budget) = (RelativeClock(clock), RetryBudget(share: budget))
        return Hooks(around: [
            { context, next in
                let start = timebase.now
                budget.callBegan(at: context.path)
                var schedule = RetrySchedule(
                    attempts: attempts, pause: pause, longestPause: longestPause,
                    timeout: DeadlineScope.bound(context.params.timeout))
                let app = context.app
                // A call for another user does not depend on who is signed in to the app.
                let isForAnotherUser = context.serviceRequest.isForAnotherUser(in: app)
                if !isForAnotherUser { _ = await app.resolvedIdentity() }
                var sender = isForAnotherUser ? .ofCall : app.currentSender
                // Each attempt starts from the original context, before the inner hooks have run.
                var attempt = context
                while true {
                    do {
                        try await next(&attempt)
                        context = attempt
                        return
                    } catch let error as FeathersError
                        where error.permitsRepeating(error.failedRequest(of: context), refusedWrites: refusedWrites)
                    {
                        let pause = schedule.failed(
                            retryAfter: error.retryAfter, elapsed: timebase.now - start,
                            chance: Double.random(in: 0...1))
                        // The first attempt may have signed the app in, or another user has signed in meanwhile: a read
                        // may be made as that user, but a write is never sent as a different one.
                        let isRead = error.failedRequest(of: context).isSafeToRepeat
                        if !isForAnotherUser, sender.identity == nil, isRead { sender = app.currentSender }
                        guard let pause, sender.isCurrent, budget.takeRetry(at: context.path) else { throw error }
                        Diagnostics.current.retrying(context.method, context.path, after: error, pause: pause)
                        try await timebase.sleep(for: pause)
                        guard sender.isCurrent else { throw error }
                        attempt = context
                        if let left = schedule.timeLeft(after: timebase.now - start) {
                            guard left > .zero else { throw error }
                            // A deadline of the caller stays apart from what distinguishes requests.
                            if attempt.params.timeout != nil { attempt.params.timeout = left }
                        }
                    }
                }
            }
        ])
    }
}

extension FeathersError {
    /// Returns the request of a failed attempt. An inner hook may have changed its method, which the error names.
    fileprivate func failedRequest(of context: HookContext) -> ServiceRequest {
        var request = context.serviceRequest
        if path == context.path, let method { request.method = method }
        return request
    }

    /// Returns whether a call that failed with this error can be safely repeated.
    fileprivate func permitsRepeating(_ request: ServiceRequest, refusedWrites: Bool) -> Bool {
        guard code == .unavailable || code == .tooManyRequests else { return false }
        if execution == .neverSent || request.isSafeToRepeat { return true }
        return refusedWrites && execution == .answered && (code == .tooManyRequests || retryAfter != nil)
    }
}

/// The numbers of retries that the calls of each service may still have.
private final class RetryBudget: Sendable {
    /// The balance of a service at rest, which is the highest one.
    private static let reserve = 10.0
    /// The number of services that are distinguished, so that arbitrary paths cannot exhaust the memory.
    private static let limit = 1000

    private let share: Double
    /// The balances of services that are not at rest.
    private let balances = Locked<[String: Double]>([:])

    init(share: Double) { self.share = max(share, 0) }

    func callBegan(at path: String) {
        balances.withLock { balances in
            let key = balances[path] == nil ? AppMetrics.others : path
            guard let balance = balances[key] else { return }
            let next = balance + share
            balances[key] = next < Self.reserve ? next : nil
        }
    }

    /// Returns whether another attempt may be made.
    func takeRetry(at path: String) -> Bool {
        balances.withLock { balances in
            let key = balances[path] == nil && balances.count >= Self.limit ? AppMetrics.others : path
            let balance = balances[key] ?? Self.reserve
            guard balance >= 1 else { return false }
            balances[key] = balance - 1
            return true
        }
    }
}

/// The schedule of retries: the number of attempts, the delays and the time limit. Without I/O.
struct RetrySchedule: Sendable {
    /// The number of remaining retries.
    private var remaining: Int
    /// The upper limit of the next delay if the server requests none.
    private var pause: Duration
    private let longestPause: Duration
    /// The time limit for all attempts; nil for none.
    private let timeout: Duration?

    init(attempts: Int, pause: Duration, longestPause: Duration, timeout: Duration?) {
        (remaining, self.longestPause, self.timeout) = (attempts - 1, longestPause, timeout)
        self.pause = min(pause, longestPause)
    }

    /// Returns the delay before the next attempt; nil to give up.
    /// - Parameters:
    ///   - retryAfter: The delay that the server requests.
    ///   - elapsed: The duration of the call so far.
    ///   - chance: The random jitter, from 0 to 1.
    mutating func failed(retryAfter: Duration?, elapsed: Duration, chance: Double) -> Duration? {
        guard remaining > 0 else { return nil }
        // Honors `Retry-After` up to `longestPause`.
        if let retryAfter, retryAfter > longestPause { return nil }
        let drawn = retryAfter.map { $0 + pause * (chance / 2) } ?? pause * (0.5 + chance / 2)
        if let timeout, elapsed + drawn >= timeout { return nil }
        remaining -= 1
        pause = min(pause * 2, longestPause)
        return drawn
    }

    /// Returns the time that remains for the call.
    func timeLeft(after elapsed: Duration) -> Duration? { timeout.map { $0 - elapsed } }
}
