import FeathersCore
import FeathersSupport
public import Foundation

/// How an app signs in, and where it keeps its tokens.
public struct AuthenticationOptions: Sendable {
    /// The path of the authentication service.
    public var path = "authentication"
    /// The header field that carries the token over HTTP.
    public var header = "Authorization"
    /// The scheme before the token in that field; empty for the token alone.
    public var scheme = "Bearer"
    /// The key the access token is stored under. The refresh token's has `-refresh` appended.
    public var storageKey = "feathers-jwt"
    /// The server's strategy that accepts access tokens.
    public var jwtStrategy = "jwt"
    package var storage: any TokenStorage
    package var refresh: TokenRefresh
    /// How long before its end a token is refreshed; nil for a fifth of its lifetime, but at most a minute.
    public var refreshLead: Duration?
    /// Whether the token also goes into the headers a real-time connection is opened with.
    ///
    /// For servers, and proxies in front of them, that check who connects. FeathersJS does not need it: it gets the token over the connection.
    public var authenticatesHandshake = false
    /// Servers that may see the token besides the app's own, which is where its transport leads.
    ///
    /// Scheme, host and port count; a path does not. Calls to all other servers go without the token: those of endpoints, of services that
    /// are registered with a transport, and of services of your own that hand their calls on to one.
    public var trustedOrigins: [URL] = []
    package var clock: any Clock<Duration> = ContinuousClock()
    /// The time of day, to compare with the times in tokens.
    package var date: @Sendable () -> Date = { Date() }

    /// Creates options: where tokens are kept between runs, and how to get another when the current one ends; `configure` sets the rest.
    public init(
        storage: any TokenStorage = InMemoryTokenStorage(), refresh: TokenRefresh = .none,
        _ configure: (inout AuthenticationOptions) -> Void = { _ in }
    ) {
        (self.storage, self.refresh) = (storage, refresh)
        configure(&self)
    }
}

extension AuthenticationOptions {
    /// - Throws: ``FeathersError/Code/badRequest`` naming the option that cannot be used.
    func validated() throws(FeathersError) -> AuthenticationOptions {
        var options = self
        options.path = FeathersApp.stripSlashes(path)
        func refuse(_ what: String) -> FeathersError {
            FeathersError(.badRequest, "Authentication cannot be set up: \(what)", execution: .neverSent)
        }
        if options.path.isEmpty { throw refuse("the path of its service is empty") }
        if storageKey.isEmpty { throw refuse("the storage key is empty") }
        let isName = header.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
        if header.isEmpty || !isName { throw refuse("'\(header)' is not the name of a header field") }
        if !scheme.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { throw refuse("the scheme has characters that no header may carry") }
        // The URL itself is not told: it may hold a password.
        for (index, url) in trustedOrigins.enumerated() where Origin(url) == nil {
            throw refuse("trustedOrigins[\(index)] is no http or https URL with a host")
        }
        return options
    }

    /// The servers of ``trustedOrigins``.
    var trustedServers: Set<Origin> { Set(trustedOrigins.compactMap { Origin($0) }) }
}
