extension FeathersApp {
    /// Runs a request through the app's hooks and an implementation that is registered nowhere, for calls that are none of a service.
    package func answer(_ request: ServiceRequest, by implementation: any ServiceProtocol) async throws -> CallResult {
        let registration = ServiceRegistration(path: request.path, implementation: implementation)
        return try await Service(app: self, registration: registration).answer(request)
    }
}
