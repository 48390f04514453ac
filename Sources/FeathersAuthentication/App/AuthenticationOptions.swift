import FeathersCore
import FeathersSupport
public import Foundation

/// Options for how an app signs in and where it stores its tokens.
public struct AuthenticationOptions: Sendable {
    /// The path of the authentication service.
    public var path = "authentication"
    /// The header field that carries the token over HTTP.
    public var header = "Authorization"
    /// The scheme before the token in that field. If it is empty, the field contains only the token.
    public var scheme = "Bearer"
    /// The key under which the access token is stored, before the origin of the server that issued it:
    /// `feathers-jwt https://api.example.com`.
    ///
    /// The refresh token's key has `-refresh` before the origin. A token is used only by apps whose authentication
    /// service has the same origin, so apps of several servers can share a storage. The origin is that of the service's
    /// transport or, if the service has none, of the app's transport. A mixed transport to two servers has both, in
    /// alphabetical order. Your own transports and stubs have no origin. If apps use them with several servers, give
    /// each app its own storage or key.
    public var storageKey = "feathers-jwt"
    /// The server's strategy that accepts access tokens.
    public var jwtStrategy = "jwt"
    /// The storage of the tokens.
    public var storage: any TokenStorage
    /// How an access token is refreshed.
    public var refresh: TokenRefresh
    /// How long before its expiry a token is refreshed; nil for a fifth of its lifetime, up to a minute.
    ///
    /// At most half of the token's life: a longer time would be due at once. Two such refreshes are as far apart as two
    /// attempts to reconnect, and the token is used while a refresh fails.
    public var refreshLead: Duration?
    /// Whether the token is also sent in the headers of a real-time connection's handshake.
    ///
    /// Set this for servers, or proxies in front of them, that check who connects. FeathersJS does not need it, because
    /// it receives the token over the connection.
    public var authenticatesHandshake = false
    /// Servers that may receive the token in addition to the app's own server, which is the one its transport connects
    /// to.
    ///
    /// Only the scheme, host and port are compared; the path is ignored. Calls to all other servers are sent without
    /// the token. That includes calls to endpoints, to services registered with a transport, and calls that your own
    /// services forward to one.
    public var trustedOrigins: [URL] = []
    /// Whether the app makes calls only for the users of access tokens, for a server that acts for others.
    ///
    /// A call without a token then throws ``FeathersError/Code/notAuthenticated``, whether a user is signed in or not,
    /// and before a cache is read: for example in a detached task, or in the body of a response that is written later.
    /// Calls have a token within ``FeathersApp/withToken(_:_:)``, with ``Params/token``, or with the header field that
    /// you set yourself. That applies to every call: those of local services and of mounted apps too, and those to
    /// other servers, although they never receive the token. A hook may set the token.
    ///
    /// What the app does for itself is marked with ``FeathersApp/asOwnUser(_:)``, also in its setup and its background
    /// work. Live queries, event streams, drafts without a token, and queued writes are refused outside of it, because
    /// they are the app's own. An event stream cannot throw: it ends at once, with an error in the app's diagnostics.
    /// Signing in, refreshing and sending what is queued need no mark.
    public var requiresToken = false
    package var clock: any Clock<Duration> = ContinuousClock()
    /// The time of day, for comparison with the times in tokens.
    package var date: @Sendable () -> Date = { Date() }

    /// Creates options from a token storage and a way to refresh tokens. `configure` sets the other options.
    public init(
        storage: any TokenStorage = InMemoryTokenStorage(), refresh: TokenRefresh = .none,
        _ configure: (inout AuthenticationOptions) -> Void = { _ in }
    ) {
        (self.storage, self.refresh) = (storage, refresh)
        configure(&self)
    }
}

extension AuthenticationOptions {
    /// - Throws: ``FeathersError/Code/badRequest`` naming the invalid option.
    func validated() throws(FeathersError) -> AuthenticationOptions {
        var options = self
        options.path = FeathersApp.stripSlashes(path)
        func refuse(_ what: String) -> FeathersError {
            FeathersError(.badRequest, "Authentication cannot be set up: \(what)", execution: .neverSent)
        }
        if options.path.isEmpty { throw refuse("the path of its service is empty") }
        if storageKey.isEmpty { throw refuse("the storage key is empty") }
        let isName = header.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
        if header.isEmpty || !isName { throw refuse("'\(header)' is not a valid header field name") }
        if !scheme.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            throw refuse("the scheme has characters that no header allows")
        }
        // The message omits the URL, which may contain a password.
        for (index, url) in trustedOrigins.enumerated() where Origin(url) == nil {
            throw refuse("'trustedOrigins[\(index)]' is not an http or https URL with a host")
        }
        return options
    }

    /// The servers of ``trustedOrigins``.
    var trustedServers: Set<Origin> { Set(trustedOrigins.compactMap { Origin($0) }) }
}
