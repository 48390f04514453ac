import FeathersCore
import Foundation

/// A sign-in's result and the values derived from its token, on the monotonic clock.
struct IssuedToken: Sendable, Equatable {
    var result: AuthenticationResult
    /// The expiry of the token; nil if it is unknown.
    var expiry: Duration?
    /// The time to refresh the token; nil if it cannot be refreshed, or if its expiry is unknown.
    var refreshMoment: Duration?
    /// Whether a new token can be obtained without the user.
    var canRefresh = false
    /// The number of the connection over which the token was received; nil if there was none.
    var connection: Int?
}

/// The time at which a token was requested, on the monotonic clock and on the wall clock.
struct SignInMoment: Sendable {
    var now: Duration
    var date: Date
}

/// Determines when a token expires, even if the server's clock differs.
enum TokenExpiry {
    /// Returns the expiry of a token on the monotonic clock; nil if the token contains none.
    ///
    /// Uses `exp`, unless the clocks clearly differ: a token that was issued in the future, or that expired before it
    /// arrived, was just issued by a server with a wrong clock. Such a token is valid for the time between `iat` and
    /// `exp`, starting when it was requested. `isNew` tells whether the server has just issued the token: a stored
    /// token says nothing about clocks.
    static func moment(of payload: UnverifiedPayload?, askedFor: SignInMoment, isNew: Bool) -> Duration? {
        guard let payload, let end = payload.expiresAt else { return nil }
        let remaining = end.timeIntervalSince(askedFor.date)
        guard let start = payload.issuedAt, isNew else {
            // The server accepted the token, so it has not expired, regardless of the local clock.
            return remaining > 0 ? askedFor.now + .seconds(remaining) : nil
        }
        let lifetime = end.timeIntervalSince(start)
        guard lifetime > 0 else { return nil }
        let isSkewed = start.timeIntervalSince(askedFor.date) > tolerance || remaining <= 0
        // `iat` is truncated to whole seconds, so up to one second may have passed.
        return askedFor.now + .seconds(isSkewed ? lifetime - min(1, lifetime / 2) : remaining)
    }

    /// The apparent difference, in seconds, that a response's delay can cause between clocks that agree.
    private static let tolerance = 1.0

    /// Returns how long before its expiry a token is refreshed: by default a fifth of its life, up to a minute; at most
    /// half of its life, so that a token is never due when it arrives.
    /// - Parameters:
    ///   - lead: The app's choice; nil for the default.
    ///   - remaining: The time until the expiry, which is the life of a new token.
    static func lead(
        _ lead: Duration?, of payload: UnverifiedPayload?, remaining: Duration, isNew: Bool
    ) -> Duration {
        var life = remaining
        if let start = payload?.issuedAt, let end = payload?.expiresAt, end > start {
            let lifetime = Duration.seconds(end.timeIntervalSince(start))
            life = isNew ? min(remaining, lifetime) : lifetime
        }
        return min(lead ?? min(.seconds(60), life / 5), life / 2)
    }
}
