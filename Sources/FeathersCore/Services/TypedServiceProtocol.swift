/// The methods of a service that works with models. Implement this protocol to register such a service in an app.
///
/// ```swift
/// actor Todos: TypedServiceProtocol {
///     private var todos: [Int: Todo] = [:]
///
///     func find(_ params: Params) async throws -> Page<Todo> {
///         Page(data: Array(todos.values))
///     }
///
///     func create(_ todo: Todo, _ params: Params) async throws -> Todo {
///         todos[todo.id] = todo
///         return todo
///     }
/// }
///
/// let todos = try await app.use(Todos(), at: "todos")
/// ```
///
/// Implement the methods your service supports. The others throw ``FeathersError/Code/methodNotAllowed``, as in
/// FeathersJS. A service that implements `get` and `update` also supports `patch`. For services that work with JSON or
/// several records at once, use ``ServiceProtocol``.
public protocol TypedServiceProtocol<Model>: Actor {
    /// The type of the service's records.
    associatedtype Model: Codable & Sendable

    /// Returns the records that match `params.query`.
    func find(_ params: Params) async throws -> Page<Model>

    /// Reads one record.
    func get(_ id: ServiceID, _ params: Params) async throws -> Model

    /// Creates a record.
    func create(_ model: Model, _ params: Params) async throws -> Model

    /// Replaces a record.
    func update(_ id: ServiceID, with model: Model, _ params: Params) async throws -> Model

    /// Merges properties into a record. The default implementation reads the record, merges the properties and updates
    /// it.
    func patch(_ id: ServiceID, with changes: JSONObject, _ params: Params) async throws -> Model

    /// Removes a record.
    func remove(_ id: ServiceID, _ params: Params) async throws -> Model

    /// Runs a custom method.
    func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue
}

extension TypedServiceProtocol {
    public func find(_ params: Params) async throws -> Page<Model> { throw FeathersError.unimplemented(.find) }

    public func get(_ id: ServiceID, _ params: Params) async throws -> Model { throw FeathersError.unimplemented(.get) }

    public func create(_ model: Model, _ params: Params) async throws -> Model {
        throw FeathersError.unimplemented(.create)
    }

    public func update(_ id: ServiceID, with model: Model, _ params: Params) async throws -> Model {
        throw FeathersError.unimplemented(.update)
    }

    public func patch(_ id: ServiceID, with changes: JSONObject, _ params: Params) async throws -> Model {
        let codec = params.coding ?? CodingOptions()
        guard var record = try codec.encode(await get(id, params)).object else {
            throw FeathersError.unsupported(.patch)
        }
        for (name, value) in changes { record[name] = value }
        return try await update(id, with: codec.decodeData(Model.self, from: .object(record)), params)
    }

    public func remove(_ id: ServiceID, _ params: Params) async throws -> Model {
        throw FeathersError.unimplemented(.remove)
    }

    public func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(method)
    }
}

extension FeathersApp {
    /// Registers a service that works with models at a path, replacing any previous service.
    ///
    /// The app's ``FeathersApp/coding``, or the call's, converts its records to JSON and back.
    /// - Throws: ``FeathersError/Code/badRequest`` for an empty path or a custom method with a reserved name.
    @discardableResult
    public func use<S: TypedServiceProtocol>(
        _ service: S, at path: String, options: ServiceOptions = ServiceOptions()
    ) async throws -> Service<S.Model> {
        let responder = ModelResponder(service: service, app: weakReference)
        return try await addResponder(responder, at: path, options: options).of(S.Model.self)
    }
}

/// A service of the app that works with models.
struct ModelResponder<S: TypedServiceProtocol>: Responder {
    let service: S
    let app: WeakApp
    var actor: (any Actor)? { service }

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        DeadlineScope.callReachedService()
        let params = request.params
        let codec = params.coding ?? app.app?.coding ?? defaultCoding
        func encoded(_ record: S.Model) throws -> ServiceResponse { ServiceResponse(try codec.encode(record)) }
        switch request.method {
        case .find:
            return ServiceResponse(try await service.find(params).encoded(by: codec))
        case .get:
            guard let id = request.id else { throw FeathersError(.badRequest, "id for 'get' can not be undefined") }
            return try await encoded(service.get(id, params))
        case .create:
            if request.data?.array != nil { throw FeathersError(.methodNotAllowed, "Can not create multiple entries") }
            return try await encoded(service.create(codec.decodeData(S.Model.self, from: request.data), params))
        case .update:
            let model = try codec.decodeData(S.Model.self, from: request.data)
            return try await encoded(service.update(one(request), with: model, params))
        case .patch:
            guard let changes = request.data?.object else {
                throw FeathersError(.badRequest, "'patch' needs an object with the properties to change")
            }
            var params = params
            params.coding = codec
            return try await encoded(service.patch(one(request), with: changes, params))
        case .remove:
            return try await encoded(service.remove(one(request), params))
        case .custom:
            return ServiceResponse(try await service.call(request.method, with: request.data ?? .null, params))
        }
    }

    private func one(_ request: ServiceRequest) throws(FeathersError) -> ServiceID {
        let method = request.method
        guard let id = request.id else { throw FeathersError(.methodNotAllowed, "Can not \(method) multiple entries") }
        return id
    }
}

extension Page where Model: Encodable {
    /// The page in FeathersJS' form, or a list without a total.
    fileprivate func encoded(by codec: any JSONCodec) throws -> JSONValue {
        let records = try JSONValue.array(data.map(codec.encode))
        if total == nil, limit == nil, skip == nil, extra.isEmpty { return records }
        var page = JSONObject()
        if let total {
            page["total"] = .integer(Int64(total))
            page["limit"] = .integer(Int64(limit ?? count))
            page["skip"] = .integer(Int64(skip ?? 0))
        } else {
            if let limit { page["limit"] = .integer(Int64(limit)) }
            if let skip { page["skip"] = .integer(Int64(skip)) }
        }
        for (name, value) in extra where page[name] == nil { page[name] = value }
        page["data"] = records
        return .object(page)
    }
}

extension JSONCodec {
    /// - Throws: ``FeathersError/Code/badRequest`` that names the property that cannot be decoded.
    fileprivate func decodeData<Model: Decodable>(_ type: Model.Type, from data: JSONValue?) throws -> Model {
        do {
            return try decode(type, from: data ?? .null)
        } catch {
            var failure = FeathersError.undecodable("The data", as: type, error)
            failure.code = .badRequest
            (failure.name, failure.className) = ("BadRequest", "bad-request")
            throw failure
        }
    }
}
