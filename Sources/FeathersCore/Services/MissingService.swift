/// Stands where no service is registered and says so to every call.
struct MissingService: ServiceProtocol {
    let path: String

    func respond(to request: ServiceRequest) async throws -> JSONValue {
        throw FeathersError(.notFound, "Can not find service '\(path)'", execution: .neverSent)
    }
}
