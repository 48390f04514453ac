package import FeathersSupport
import Synchronization

/// A transport that connects to one server.
package protocol AddressedTransport: Transport {
    /// The server; nil if the transport's URL does not identify one.
    var origin: Origin? { get }
}

extension FeathersApp {
    /// Returns whether a server may receive the app's credentials: its token, and the header fields that hooks add to endpoint requests.
    ///
    /// The decision depends only on the server, not on how the request gets there: by a call's transport, a service's transport or an absolute
    /// URL. The app trusts the server of its own transport, including those of its components, and the servers that its authentication lists. An
    /// app without a transport, or whose transport has no server, trusts the server of its endpoints.
    package func trusts(_ server: Origin?) -> Bool {
        guard let server else { return false }
        let own = transport?.innermost.compactMap { ($0 as? any AddressedTransport)?.origin } ?? []
        if own.contains(server) || self[ListedServers.self]?.contains(server) == true { return true }
        return own.isEmpty && endpointServer == server
    }

    /// Returns whether a service may receive the app's credentials, which is the case if every server its transport may send to is trusted.
    package func trusts(_ service: TransportService) -> Bool {
        if service.isOwn { return true }
        let ways = service.transport.innermost
        return !ways.isEmpty && ways.allSatisfy { trusts(($0 as? any AddressedTransport)?.origin) }
    }

    /// Sets the servers that the app trusts in addition to its own.
    package func trust(_ servers: Set<Origin>) { self[ListedServers.self] = servers }

    /// The server of the app's endpoints, if its transport has none.
    package var endpointServer: Origin? {
        get { self[EndpointServer.self] }
        set { self[EndpointServer.self] = newValue }
    }
}

extension Params {
    /// Sets a header field that contains the app's token, for a local service that may forward the call to any server.
    package mutating func lend(_ field: String, _ value: String, of app: FeathersApp) {
        headers[field] = value
        self[LentToken.self] = LentToken(field: field, value: value, owner: app.weakReference)
    }

    /// Returns the header fields for a server, without a token of an app that does not trust the server.
    ///
    /// If a service has replaced the token, its value is kept.
    package func headers(for server: Origin?) -> [String: String] {
        guard let lent = self[LentToken.self] else { return headers }
        if lent.owner.app?.trusts(server) == true {
            lent.isSent.store(true, ordering: .releasing)
            return headers
        }
        return headers.filter { $0 != lent.field || $1 != lent.value }
    }
}

extension Params {
    /// Whether a server that the app trusts was sent the token that a local service has borrowed.
    package var hasSentLentToken: Bool { self[LentToken.self]?.isSent.load(ordering: .acquiring) ?? false }
}

/// A header field that contains an app's token.
private final class LentToken: ParamsKey, SecretHiding, Sendable {
    typealias Value = LentToken

    let field: String
    let value: String
    let owner: WeakApp
    let isSent = Atomic(false)

    init(field: String, value: String, owner: WeakApp) { (self.field, self.value, self.owner) = (field, value, owner) }
}

extension FeathersApp {
    /// The lowercase name of the header field that contains the app's token; nil without authentication.
    package var credentialField: String? {
        get { self[CredentialField.self] }
        set { self[CredentialField.self] = newValue }
    }
}

private enum CredentialField: AppSetting { typealias Value = String }
private enum ListedServers: AppSetting { typealias Value = Set<Origin> }
private enum EndpointServer: AppSetting { typealias Value = Origin }
