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
    var innermost: [any Transport] {
        (self as? any CompositeTransport)?.components.flatMap(\.innermost) ?? [self]
    }
}
