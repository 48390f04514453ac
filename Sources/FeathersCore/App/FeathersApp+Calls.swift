extension FeathersApp {
    /// Runs a request through the app's hooks and an implementation that is registered nowhere, for calls that are none of a service.
    package func perform(_ request: ServiceRequest, by implementation: any ServiceProtocol) async throws -> JSONValue {
        let registration = ServiceRegistration(path: request.path, implementation: implementation)
        return try await Service(app: self, registration: registration).perform(request).json
    }
}
