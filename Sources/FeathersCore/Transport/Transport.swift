/// A transport that carries service requests to a server. It does not run hooks.
///
/// All services of an app share one transport, so it must accept any number of concurrent requests.
public protocol Transport: Sendable {
    /// Sends a request and waits for its response.
    ///
    /// Cancelling the calling task cancels the request. The transport remains usable.
    /// - Returns: The server's result; JSON null if it sent none.
    /// - Throws: ``FeathersError`` for every failure, `CancellationError` if cancelled.
    func send(_ request: ServiceRequest) async throws -> ServiceResponse

    /// Cancels every call in flight. The app calls this method at the end of the shutdown's time limit. The transport
    /// remains usable.
    ///
    /// The calls throw ``FeathersError/Code/unavailable``. The default implementation forwards to the components of a
    /// ``CompositeTransport``.
    func endCalls()
}

extension Transport {
    public func endCalls() {
        for component in (self as? any CompositeTransport)?.components ?? [] { component.endCalls() }
    }
}

/// A transport that sends over other transports, for example one that chooses between two or modifies requests.
public protocol CompositeTransport: Transport {
    /// The underlying transports, the preferred one first.
    var components: [any Transport] { get }
}

extension Transport {
    /// Returns the transport itself, or its first component, that has the given type.
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

    /// The transports at the end of the chain, which have no components.
    package var innermost: [any Transport] {
        (self as? any CompositeTransport)?.components.flatMap(\.innermost) ?? [self]
    }
}

/// A transport that writes queries as query strings.
package protocol QueryStringTransport: Transport {
    var queryStringOptions: QueryStringOptions { get }
}

extension Transport {
    /// The number of elements that an array of a query may have whichever of its components the transport sends it
    /// over; nil for no limit.
    package var arrayLimit: Int? {
        innermost.compactMap { ($0 as? any QueryStringTransport)?.queryStringOptions.arrayLimit }.min()
    }
}

/// A transport that limits the time of calls without a time limit of their own.
package protocol TimeLimitingTransport: Transport {
    /// The time limit; nil for none.
    var callTimeout: Duration? { get }
}

extension Transport {
    /// The time limit of calls without their own; nil for none. If several transports carry the calls, the longest.
    package var defaultTimeout: Duration? {
        innermost.compactMap { ($0 as? any TimeLimitingTransport)?.callTimeout }.max()
    }
}

/// A transport whose calls may wait for a connection of their own.
package protocol LoadedTransport: Transport {
    /// The number of requests that wait for one, with those of other apps that share the connections.
    var waitingRequests: Int { get }
}

/// A transport that queues calls, for example while it has no connection.
package protocol CallQueueing: Transport {
    /// Fails queued calls that have not been sent, with ``FeathersError/senderChanged(_:)``.
    func failUnsentCalls(where isStale: @Sendable (ServiceRequest) -> Bool)
}
