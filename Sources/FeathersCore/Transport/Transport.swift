/// The way to a server: carries service requests, and knows nothing of hooks.
///
/// A transport is shared by every service of one app and must accept any number of requests at once.
public protocol Transport: Sendable {
    /// Sends one request and waits for its answer.
    ///
    /// Cancelling the calling task gives the request up; the transport stays usable.
    /// - Returns: the server's result; JSON null if it sent none.
    /// - Throws: ``FeathersError`` for every failure, `CancellationError` when cancelled.
    func send(_ request: ServiceRequest) async throws -> ServiceResponse

    /// Ends every call in flight, when the app shuts down and has waited for long enough. The transport stays usable.
    ///
    /// The calls throw ``FeathersError/Code/unavailable``. The default implementation ends those of a ``CompositeTransport``'s components.
    func endCalls()
}

extension Transport {
    public func endCalls() {
        for component in (self as? any CompositeTransport)?.components ?? [] { component.endCalls() }
    }
}

/// A transport that sends over others: one that chooses between two, or one that does something to every request.
public protocol CompositeTransport: Transport {
    /// The transports it sends over, the preferred one first.
    var components: [any Transport] { get }
}

extension Transport {
    /// The transport itself, or the first of those it is made of, that is of a type.
    ///
    /// ```swift
    /// app.transport?.component(SocketIOTransport.self)?.retryNow()
    /// ```
    public func component<Component>(_ type: Component.Type) -> Component? {
        if let component = self as? Component { return component }
        for part in (self as? any CompositeTransport)?.components ?? [] {
            if let component = part.component(type) { return component }
        }
        return nil
    }

    /// The transports that are made of no others: the ways themselves.
    package var innermost: [any Transport] {
        (self as? any CompositeTransport)?.components.flatMap(\.innermost) ?? [self]
    }
}

/// A transport that keeps calls waiting, for a connection for example.
package protocol CallQueueing: Transport {
    /// Fails the calls that wait and have not been sent, with ``FeathersError/senderChanged(_:)``.
    func failUnsentCalls(where isStale: @Sendable (ServiceRequest) -> Bool)
}

/// A service on a server, reached through a transport.
///
/// An app's token goes along only if the transport leads to the app's own server, or to one of its authentication's `trustedOrigins`.
public struct TransportService: ServiceProtocol {
    let transport: any Transport
    /// Whether the transport is the app's own.
    package let isOwn: Bool

    /// Creates a service that hands its calls to a transport.
    public init(_ transport: any Transport) {
        self.transport = transport
        isOwn = false
    }

    /// The service of an app that nobody has registered.
    init(own transport: any Transport) {
        self.transport = transport
        isOwn = true
    }

    public func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        try request.checkSender()
        return try await transport.send(request)
    }
}
