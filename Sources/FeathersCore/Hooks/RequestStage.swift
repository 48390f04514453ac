/// What is done to requests where they meet the method: after every before hook has had its say, and before any after hook.
///
/// Stages stand inside of all hooks, in the order of their places, whenever they were registered; those of the app outside, those of the service
/// inside. They are compiled into a service's plan: where there are none, nothing is paid for them.
package protocol RequestStage: Sendable {
    var place: RequestStagePlace { get }

    /// The service that does this stage's part around the next one; nil where it has none at this site.
    func around(_ next: any ServiceProtocol, at site: RequestSite) -> (any ServiceProtocol)?
}

/// The order of stages, from the outside in: what is shared is gathered once, what is gathered is one request that counts.
package enum RequestStagePlace: Sendable, CaseIterable {
    case sharing, batching, limiting
}

/// Where a stage stands: before which service of which app.
package struct RequestSite: Sendable {
    /// The path the service is registered at.
    package let path: String
    /// What answers in the end.
    package let implementation: any ServiceProtocol
    /// Tells the app from others.
    package let appID: ObjectIdentifier
    private let currentPartition: @Sendable () -> CachePartition?

    init(path: String, implementation: any ServiceProtocol, app: FeathersApp) {
        self.path = path
        self.implementation = implementation
        appID = ObjectIdentifier(app)
        // The app holds its services, so they must not hold it.
        currentPartition = { [weak app] in app?.cachePartition }
    }

    /// Whose answers the requests of now bring.
    package var partition: CachePartition? { currentPartition() }

    /// The implementation inside of the stages of one method.
    func staged(app: Hooks, service: Hooks, for method: ServiceMethod) -> any ServiceProtocol {
        if app.stages.isEmpty && service.stages.isEmpty { return implementation }
        let named = HookScope.method(method)
        let stages = [app, service].flatMap { $0.stages[.all] + $0.stages[named] }
        let inOrder = RequestStagePlace.allCases.flatMap { place in stages.filter { $0.place == place } }
        return inOrder.reversed().reduce(implementation) { $1.around($0, at: self) ?? $0 }
    }
}
