/// Where an endpoint's request carries what the app adds to it: the transport's header fields, and those hooks set (`Authorization`).
///
/// The names are those of the Fetch standard. Header fields of the endpoint itself, `Accept` and `Content-Type` are always sent.
public enum EndpointCredentials: Hashable, Sendable {
    /// Only to the origin (scheme, host and port) of the transport's base URL: no other server gets the app's tokens by accident.
    case sameOrigin
    /// To whatever origin the endpoint asks.
    case include
    /// To none.
    case omit
}
