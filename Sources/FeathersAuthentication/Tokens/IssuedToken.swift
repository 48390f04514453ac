import FeathersCore
import Foundation

/// A sign-in's result and what follows from its token, on the monotonic clock.
struct IssuedToken: Sendable, Equatable {
    var result: AuthenticationResult
    /// When the token ends; nil if that is unknown.
    var expiry: Duration?
    /// When to refresh it; nil if it cannot be refreshed, or its end is unknown.
    var refreshMoment: Duration?
    /// Whether there is a way to get another token without the user.
    var canRefresh = false
    /// The number of the connection whose server answered with it; nil if none did.
    var connection: Int?
}

/// The moment a token was asked for, on the monotonic clock and on the wall clock.
struct SignInMoment: Sendable {
    var now: Duration
    var date: Date
}

/// Works out when a token ends, although the server's clock is another one.
enum TokenExpiry {
    /// When the token ends on the monotonic clock; nil if the token does not tell.
    ///
    /// `exp` counts, unless the clocks certainly differ: a token from the future, or one that expired before it came, was issued just now by a clock
    /// that is off. Such a token lives for the time between `iat` and `exp` from the moment it was asked for.
    /// - Parameter isNew: whether the server has issued the token now. A stored token says nothing about clocks.
    static func moment(of payload: UnverifiedPayload?, askedFor: SignInMoment, isNew: Bool) -> Duration? {
        guard let payload, let end = payload.expiresAt else { return nil }
        let remaining = end.timeIntervalSince(askedFor.date)
        guard let start = payload.issuedAt, isNew else {
            // The server accepted it, so it has not ended, whatever the clock here says.
            return remaining > 0 ? askedFor.now + .seconds(remaining) : nil
        }
        let lifetime = end.timeIntervalSince(start)
        guard lifetime > 0 else { return nil }
        let isSkewed = start.timeIntervalSince(askedFor.date) > tolerance || remaining <= 0
        // `iat` is cut to whole seconds, one of which may have passed.
        return askedFor.now + .seconds(isSkewed ? lifetime - min(1, lifetime / 2) : remaining)
    }

    /// How far clocks that agree may seem to differ, in seconds: an answer takes its time.
    private static let tolerance = 1.0

    /// How long before its end a token is refreshed by default: a fifth of its lifetime, a minute at most.
    static func lead(of payload: UnverifiedPayload?, remaining: Duration) -> Duration {
        var lifetime = remaining
        if let start = payload?.issuedAt, let end = payload?.expiresAt, end > start { lifetime = .seconds(end.timeIntervalSince(start)) }
        return min(.seconds(60), lifetime / 5)
    }
}
