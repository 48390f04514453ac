/// Whether an app is signed in.
public enum AuthenticationState: Sendable, Equatable {
    /// Nobody is signed in; a token may be stored all the same, which the first call tries.
    case signedOut
    /// A sign-in is under way; calls wait for it.
    case authenticating
    /// Somebody is signed in; also what a refreshed token shows as, with the new result.
    case signedIn(AuthenticationResult)
    /// The sign-in has ended on the server's side and could not be refreshed; the tokens are removed, calls go out without any.
    case expired
}

extension AuthenticationState {
    /// The sign-in's result; nil where nobody is signed in.
    public var result: AuthenticationResult? {
        if case .signedIn(let result) = self { result } else { nil }
    }
}
