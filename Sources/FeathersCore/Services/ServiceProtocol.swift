/// What an app can register: the methods of a Feathers service.
///
/// Implement the methods your service has; the others answer with
/// ``FeathersError/Code/methodNotAllowed``, as FeathersJS does. Throw a ``FeathersError``; anything else reaches the caller as it is.
public protocol ServiceProtocol: Sendable {
    /// Lists the records that match `params.query`: an array, or a page `{total, limit, skip, data}`.
    func find(_ params: Params) async throws -> JSONValue

    /// Reads one record.
    func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue

    /// Creates one record from an object, several from an array of objects.
    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Replaces a record. A nil id is Feathers' null id, which most services refuse here.
    func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Merges `data` into a record; with a nil id into every record that matches `params.query`.
    func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Removes a record; with a nil id every record that matches `params.query`.
    func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue

    /// Runs a custom method.
    func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Runs any request. The default implementation calls the method the request names.
    func respond(to request: ServiceRequest) async throws -> JSONValue
}

extension ServiceProtocol {
    public func find(_ params: Params) async throws -> JSONValue {
        throw FeathersError.unsupported(.find)
    }

    public func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unsupported(.get)
    }

    public func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unsupported(.create)
    }

    public func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unsupported(.update)
    }

    public func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unsupported(.patch)
    }

    public func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unsupported(.remove)
    }

    public func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unsupported(method)
    }

    public func respond(to request: ServiceRequest) async throws -> JSONValue {
        switch request.method {
        case .find: try await find(request.params)
        case .get:
            if let id = request.id {
                try await get(id, request.params)
            } else {
                throw FeathersError(.badRequest, "id for 'get' can not be undefined")
            }
        case .create: try await create(request.data ?? .null, request.params)
        case .update: try await update(request.id, with: request.data ?? .null, request.params)
        case .patch: try await patch(request.id, with: request.data ?? .null, request.params)
        case .remove: try await remove(request.id, request.params)
        case .custom: try await call(request.method, with: request.data ?? .null, request.params)
        }
    }
}

extension FeathersError {
    /// The refusal of a method a service does not have, worded as FeathersJS words it.
    package static func unsupported(_ method: ServiceMethod) -> FeathersError {
        FeathersError(.methodNotAllowed, "Method `\(method)` is not supported by this endpoint.")
    }
}
