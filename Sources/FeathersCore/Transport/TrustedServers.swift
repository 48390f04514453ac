package import FeathersSupport
import Synchronization

/// A transport that connects to one server.
package protocol AddressedTransport: Transport {
    /// The server; nil if the transport's URL does not identify one.
    var origin: Origin? { get }
}

extension FeathersApp {
    /// Returns whether a server may receive the app's credentials: its token, and the header fields that hooks add to
    /// endpoint requests.
    ///
    /// The decision depends only on the server, not on how the request gets there: by a call's transport, a service's
    /// transport or an absolute URL. The app trusts the server of its own transport, including those of its components,
    /// and the servers that its authentication lists. An app without a transport, or whose transport has no server,
    /// trusts the server of its endpoints.
    package func trusts(_ server: Origin?) -> Bool {
        guard let server else { return false }
        let own = Self.origins(of: transport)
        if own.contains(server) || self[ListedServers.self]?.contains(server) == true { return true }
        return own.isEmpty && endpointServer == server
    }

    /// Returns whether a service may receive the app's credentials, which is the case if every server its transport may
    /// send to is trusted.
    package func trusts(_ service: RemoteResponder) -> Bool {
        if service.isOwn { return true }
        let ways = service.transport.innermost
        return !ways.isEmpty && ways.allSatisfy { trusts(($0 as? any AddressedTransport)?.origin) }
    }

    /// Returns the servers that issue the app's tokens: those of its authentication service or, if that names none,
    /// those of the app itself.
    package func issuers(at path: String) async -> Set<Origin> {
        let service = await service(path).registered.implementation as? RemoteResponder
        let servers = Self.origins(of: service?.transport)
        if !servers.isEmpty { return servers }
        let own = Self.origins(of: transport)
        return own.isEmpty ? Set([endpointServer].compactMap(\.self)) : own
    }

    static func origins(of transport: (any Transport)?) -> Set<Origin> {
        Set(transport?.innermost.compactMap { ($0 as? any AddressedTransport)?.origin } ?? [])
    }

    /// Sets the servers that the app trusts in addition to its own.
    package func listServers(_ servers: Set<Origin>) { self[ListedServers.self] = servers }

    /// The server of the app's endpoints, if its transport has none.
    package var endpointServer: Origin? {
        get { self[EndpointServer.self] }
        set { self[EndpointServer.self] = newValue }
    }
}

extension Params {
    /// Sets a header field that contains the app's token.
    /// - Parameters:
    ///   - sender: The sign-in that the token belongs to, if known.
    ///   - app: Set if a local service gets the token, which may forward the call to any server. If nil, the call goes
    ///     to a server that the app trusts.
    package mutating func setToken(
        _ field: String, _ value: String, of sender: RequestSender?, lentBy app: FeathersApp? = nil
    ) {
        headers[field] = value
        appToken = AppToken(field: field, value: value, sender: sender, owner: app?.weakReference)
    }

    /// Returns the header fields for a server, without a token of an app that does not trust the server.
    ///
    /// If a service has replaced the token, its value is kept.
    package func headers(for server: Origin?) -> [String: String] {
        guard let token = appToken, let owner = token.owner else { return headers }
        if owner.app?.trusts(server) == true {
            token.isSent.store(true, ordering: .releasing)
            return headers
        }
        return headers.filter { $0 != token.field || $1 != token.value }
    }

    /// The token that the app has added to the header fields.
    package var appToken: AppToken? {
        get { self[AppToken.self] }
        set { self[AppToken.self] = newValue }
    }
}

/// A header field that contains an app's token.
package final class AppToken: ParamsKey, SecretHiding, Sendable {
    package typealias Value = AppToken

    let field: String
    let value: String
    /// The sign-in that the token belongs to, if known.
    let sender: RequestSender?
    /// The app that has lent its token to a local service; nil if the call goes to a server that the app trusts.
    let owner: WeakApp?
    fileprivate let isSent = Atomic(false)

    init(field: String, value: String, sender: RequestSender?, owner: WeakApp?) {
        (self.field, self.value, self.sender, self.owner) = (field, value, sender, owner)
    }

    /// Whether a server that the app trusts was sent the token that a local service has borrowed.
    package var wasSent: Bool { isSent.load(ordering: .acquiring) }

    /// Returns whether a header field is the token of the app's current user.
    func isCurrent(_ field: String, _ value: String?) -> Bool {
        field == self.field && value == self.value && sender?.isCurrent != false
    }
}

extension FeathersApp {
    /// The lowercase name of the header field that contains the app's token; nil without authentication.
    package var credentialField: String? { tokenForm?.field.lowercased() }
}

private enum ListedServers: AppSetting { typealias Value = Set<Origin> }
private enum EndpointServer: AppSetting { typealias Value = Origin }
