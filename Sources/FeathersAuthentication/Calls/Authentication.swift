public import FeathersCore

/// The key under which calls carry the sign-in they are made with, for hooks and local services.
///
/// ```swift
/// context.params[Authentication.self]?.user
/// ```
/// What a caller sets itself is left alone.
public enum Authentication: ParamsKey {
    /// Whose call it is.
    public typealias Value = AuthenticationResult
}
