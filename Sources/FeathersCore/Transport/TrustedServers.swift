package import FeathersSupport

/// A transport that leads to one server.
package protocol AddressedTransport: Transport {
    /// The server; nil where the transport was given a URL that leads to none.
    var origin: Origin? { get }
}

extension FeathersApp {
    /// Whether the app's credentials may go to a server: its token, and the header fields that hooks add to the requests of endpoints.
    ///
    /// Nothing else decides it, so that it does not matter what leads there: a transport that a call names, a service's transport, an
    /// absolute URL. The app trusts its own server, which is where its transport leads (each of those it is made of), and the servers that
    /// its authentication lists. An app whose transport names no server, or that has none, trusts the server of its endpoints.
    package func trusts(_ server: Origin?) -> Bool {
        guard let server else { return false }
        let own = transport?.innermost.compactMap { ($0 as? any AddressedTransport)?.origin } ?? []
        if own.contains(server) || self[ListedServers.self]?.contains(server) == true { return true }
        return own.isEmpty && endpointServer == server
    }

    /// Whether a service may see the app's credentials, because all servers are trusted that its transport may send to.
    package func trusts(_ service: TransportService) -> Bool {
        if service.isOwn { return true }
        let ways = service.transport.innermost
        return !ways.isEmpty && ways.allSatisfy { trusts(($0 as? any AddressedTransport)?.origin) }
    }

    /// Trusts servers besides the app's own.
    package func trust(_ servers: Set<Origin>) { self[ListedServers.self] = servers }

    /// The server of the app's endpoints where its transport names none.
    package var endpointServer: Origin? {
        get { self[EndpointServer.self] }
        set { self[EndpointServer.self] = newValue }
    }
}

extension Params {
    /// Notes that a header field holds the app's token, for a service of the program's own: it may hand the call on to any server.
    package mutating func lend(_ field: String, _ value: String, of app: FeathersApp) {
        headers[field] = value
        self[LentToken.self] = LentToken(field: field, value: value, owner: app.weakReference)
    }

    /// The header fields for a server: without a token that was lent by an app that does not trust it.
    ///
    /// What a service has put in the token's place stays.
    package func headers(for server: Origin?) -> [String: String] {
        guard let lent = self[LentToken.self], lent.owner.app?.trusts(server) != true else { return headers }
        return headers.filter { $0 != lent.field || $1 != lent.value }
    }
}

/// The header field of a call that holds an app's token.
private struct LentToken: ParamsKey, SecretHiding, Sendable {
    typealias Value = LentToken

    let field: String
    let value: String
    let owner: WeakApp
}

private enum ListedServers: AppSetting { typealias Value = Set<Origin> }
private enum EndpointServer: AppSetting { typealias Value = Origin }
