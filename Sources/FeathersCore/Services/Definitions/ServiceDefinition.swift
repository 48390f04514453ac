/// A model with the types that its service takes. `swift package feathers-models` writes such models.
public protocol ServiceModel: Codable, Queryable {
    /// The data that `create` takes.
    associatedtype CreateData: Encodable & Sendable
    /// The data that `patch` takes.
    associatedtype PatchData: Encodable & Sendable
}

/// A value in a service's records or data. `swift package feathers-models` writes such types.
///
/// In a module whose declarations are isolated to the main actor by default, a type that conforms to this protocol is not.
public protocol ServiceValue: Codable, Hashable, Sendable {}

/// A service's path, id property and model, under one name.
///
/// ```swift
/// extension ServiceDefinition<Message> {
///     static var messages: Self { Self(path: "messages", id: "_id") }
/// }
///
/// let messages = app.service(.messages)
/// ```
public struct ServiceDefinition<Model: ServiceModel>: Sendable {
    /// The path of the service.
    public let path: String
    /// The property that holds a record's id on the server.
    public let id: String

    /// Creates a definition.
    /// - Parameters:
    ///   - path: the path of the service.
    ///   - id: the property that holds a record's id on the server.
    public init(path: String, id: String = "id") {
        self.path = path
        self.id = id
    }
}

extension FeathersApp {
    /// Returns the service with a definition, typed with its model.
    public func service<Model: ServiceModel>(_ definition: ServiceDefinition<Model>) -> TypedService<Model> {
        var service = service(definition.path, of: Model.self)
        service.untyped.idProperty = definition.id
        return service
    }
}

// The types are known, so `.init(text: "Hi")` is enough.
extension TypedService where Model: ServiceModel {
    /// Creates a record from the data that its service takes.
    @concurrent @discardableResult
    public func create(_ data: Model.CreateData, query: Query = Query(), params: Params = Params()) async throws -> Model {
        let codec = codec(for: params)
        let record = try oneRecord(codec.encodeSent(data, to: path))
        return try decode(await untyped.execute(untyped.request(.create, data: record, query: query, params: params)), .create, codec)
    }

    /// Creates several records in one call.
    @concurrent @discardableResult
    public func create(_ data: [Model.CreateData], query: Query = Query(), params: Params = Params()) async throws -> [Model] {
        try await create(contentsOf: data, query: query, params: params)
    }

    /// Merges properties into a record.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, _ data: Model.PatchData, query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try await patch(id, with: data, query: query, params: params)
    }

    /// Merges properties into every record that matches a query.
    @concurrent @discardableResult
    public func patchAll(query: TypedQuery<Model>, _ data: Model.PatchData, params: Params = Params()) async throws -> [Model] {
        try await patchAll(query: query, with: data, params: params)
    }

    /// Replaces a record.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, _ data: Model.CreateData, query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try await update(id, with: data, query: query, params: params)
    }
}
