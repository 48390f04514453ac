/// A sign-in's result with what follows from its token, on the clock that tells durations.
struct IssuedToken: Sendable, Equatable {
    var result: AuthenticationResult
    /// When the token ends; nil where that is not known.
    var expiry: Duration?
    /// When it is to be refreshed; nil where it can not be, or its end is not known.
    var refreshMoment: Duration?
    /// Whether there is a way to get another token without the user.
    var canRefresh = false
}
