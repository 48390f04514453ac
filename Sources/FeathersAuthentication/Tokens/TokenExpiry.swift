import FeathersCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The moment a token was asked for, by both clocks: the one that tells durations and the one on the wall.
struct SignInMoment: Sendable {
    var now: Duration
    var date: Date
}

/// Works out when a token ends, on a clock that is not the server's.
enum TokenExpiry {
    /// When the token ends, on the clock that tells durations; nil where the token does not tell.
    ///
    /// As `exp` says, unless the clocks differ for certain: a token that was issued in the future, or has expired before it came, was issued just
    /// now by a clock that goes wrong against ours. Then it lives, from the moment it was asked for, as long as `iat` and `exp` lie apart.
    /// - Parameter isNew: whether the server has issued the token now; nothing can be learned about clocks from one that was stored.
    static func moment(of payload: UnverifiedPayload?, askedFor: SignInMoment, isNew: Bool) -> Duration? {
        guard let payload, let end = payload.expiresAt else { return nil }
        let remaining = end.timeIntervalSince(askedFor.date)
        guard let start = payload.issuedAt, isNew else {
            // The server took it, so that it has not ended, whatever our clock says.
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

    /// How long before its end a token is refreshed unless the options say otherwise: a fifth of its lifetime, a minute at most.
    static func lead(of payload: UnverifiedPayload?, remaining: Duration) -> Duration {
        var lifetime = remaining
        if let start = payload?.issuedAt, let end = payload?.expiresAt, end > start { lifetime = .seconds(end.timeIntervalSince(start)) }
        return min(.seconds(60), lifetime / 5)
    }
}
