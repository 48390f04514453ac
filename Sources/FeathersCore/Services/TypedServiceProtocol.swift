/// The methods of a service that works with models. Implement this protocol to register such a service in an app.
///
/// ```swift
/// actor Todos: TypedServiceProtocol {
///     private var todos: [Int: Todo] = [:]
///
///     func find(_ params: Params) async throws -> Paginated<Todo> { Paginated(data: Array(todos.values)) }
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
/// Implement the methods your service supports. The others throw ``FeathersError/Code/methodNotAllowed``, as in FeathersJS. A service that
/// implements `get` and `update` also supports `patch`. For services that work with JSON or several records at once, use ``ServiceProtocol``.
public protocol TypedServiceProtocol<Model>: Sendable {
    /// The type of the service's records.
    associatedtype Model: Codable & Sendable

    /// Returns the records that match `params.query`.
    func find(_ params: Params) async throws -> Paginated<Model>

    /// Reads one record.
    func get(_ id: ServiceID, _ params: Params) async throws -> Model

    /// Creates a record.
    func create(_ model: Model, _ params: Params) async throws -> Model

    /// Replaces a record.
    func update(_ id: ServiceID, with model: Model, _ params: Params) async throws -> Model

    /// Merges properties into a record. The default implementation reads the record, merges the properties and updates it.
    func patch(_ id: ServiceID, with changes: JSONObject, _ params: Params) async throws -> Model

    /// Removes a record.
    func remove(_ id: ServiceID, _ params: Params) async throws -> Model

    /// Runs a custom method.
    func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue
}

extension TypedServiceProtocol {
    public func find(_ params: Params) async throws -> Paginated<Model> { throw FeathersError.unimplemented(.find) }

    public func get(_ id: ServiceID, _ params: Params) async throws -> Model { throw FeathersError.unimplemented(.get) }

    public func create(_ model: Model, _ params: Params) async throws -> Model { throw FeathersError.unimplemented(.create) }

    public func update(_ id: ServiceID, with model: Model, _ params: Params) async throws -> Model {
        throw FeathersError.unimplemented(.update)
    }

    public func patch(_ id: ServiceID, with changes: JSONObject, _ params: Params) async throws -> Model {
        let codec = params.coding ?? CodingOptions()
        guard var record = try codec.encode(await get(id, params)).object else { throw FeathersError.unsupported(.patch) }
        for (name, value) in changes { record[name] = value }
        return try await update(id, with: codec.decodeData(Model.self, from: .object(record)), params)
    }

    public func remove(_ id: ServiceID, _ params: Params) async throws -> Model { throw FeathersError.unimplemented(.remove) }

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
    ) async throws -> TypedService<S.Model> {
        let adapter = TypedServiceAdapter(service: service, app: weakReference)
        return TypedService(try await use(adapter, at: path, options: options))
    }
}

/// The untyped form of a typed service, which the app calls.
private struct TypedServiceAdapter<S: TypedServiceProtocol>: ServiceProtocol {
    let service: S
    let app: WeakApp

    func find(_ params: Params) async throws -> JSONValue {
        let codec = codec(params)
        let page = try await service.find(params)
        let records = try JSONValue.array(page.data.map(codec.encode))
        guard let total = page.total else { return records }
        return [
            "total": .integer(Int64(total)), "limit": .integer(Int64(page.limit ?? page.count)), "skip": .integer(Int64(page.skip ?? 0)),
            "data": records,
        ]
    }

    func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
        try codec(params).encode(await service.get(id, params))
    }

    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        if data.array != nil { throw FeathersError(.methodNotAllowed, "Can not create multiple entries") }
        let codec = codec(params)
        return try codec.encode(await service.create(codec.decodeData(S.Model.self, from: data), params))
    }

    func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        let codec = codec(params)
        return try codec.encode(await service.update(one(id, .update), with: codec.decodeData(S.Model.self, from: data), params))
    }

    func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        guard let changes = data.object else { throw FeathersError(.badRequest, "'patch' needs an object with the properties to change") }
        var params = params
        params.coding = codec(params)
        return try codec(params).encode(await service.patch(one(id, .patch), with: changes, params))
    }

    func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue {
        try codec(params).encode(await service.remove(one(id, .remove), params))
    }

    func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        try await service.call(method, with: data, params)
    }

    private func codec(_ params: Params) -> any JSONCodec { params.coding ?? app.app?.coding ?? CodingOptions() }

    private func one(_ id: ServiceID?, _ method: ServiceMethod) throws(FeathersError) -> ServiceID {
        guard let id else { throw FeathersError(.methodNotAllowed, "Can not \(method) multiple entries") }
        return id
    }
}

extension JSONCodec {
    /// - Throws: ``FeathersError/Code/badRequest`` that names the property that cannot be decoded.
    fileprivate func decodeData<Model: Decodable>(_ type: Model.Type, from data: JSONValue) throws -> Model {
        do {
            return try decode(type, from: data)
        } catch {
            var failure = FeathersError.undecodable("The data", as: type, error)
            failure.code = .badRequest
            (failure.name, failure.className) = ("BadRequest", "bad-request")
            throw failure
        }
    }
}
