/// A model with the types that its service takes. `swift package feathers-models` writes such models.
public protocol ServiceModel: Codable, Queryable {
    /// The data that `create` takes.
    associatedtype CreateData: Encodable & Sendable
    /// The data that `patch` takes.
    associatedtype PatchData: Encodable & Sendable
}

/// A value in a service's records or data. `swift package feathers-models` writes such types.
///
/// A type that conforms to this protocol is not isolated, even in a module whose declarations are isolated to the main
/// actor by default.
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
    ///   - path: The path of the service.
    ///   - id: The property that holds a record's id on the server.
    public init(path: String, id: String = "id") {
        self.path = path
        self.id = id
    }
}

extension FeathersApp {
    /// Returns the service with a definition, typed with its model.
    public func service<Model: ServiceModel>(_ definition: ServiceDefinition<Model>) -> Service<Model> {
        service(definition.path, of: Model.self).identified(by: definition.id)
    }
}

// The types are known, so `.init(text: "Hi")` is enough.
extension Service where Model: ServiceModel {
    /// Creates a record from the data that its service takes.
    @concurrent @discardableResult
    public func create(
        _ data: Model.CreateData, query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> Model {
        try await create(encoded(data, params), query: query, params: params)
    }

    /// Creates several records in one call.
    @concurrent @discardableResult
    public func create(
        contentsOf data: [Model.CreateData], query: Query<Model> = Query(), params: Params = Params()
    ) async throws -> [Model] {
        try await create(contentsOf: data.map { try encoded($0, params) }, query: query, params: params)
    }

    /// Merges properties into a record.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, _ data: Model.PatchData, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await patch(id, with: encoded(data, params), query: query, params: params)
    }

    /// Merges properties into every record that matches a query.
    @concurrent @discardableResult
    public func patchAll(
        query: Query<Model>, _ data: Model.PatchData, params: Params = Params()
    ) async throws -> [Model] {
        try await patchAll(query: query, with: encoded(data, params), params: params)
    }

    /// Replaces a record.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, _ data: Model.CreateData, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try await update(id, with: encoded(data, params), query: query, params: params)
    }
}
