public import FeathersCore

/// A service whose records are a JSON:API model of yours.
///
/// ```swift
/// let posts = app.jsonAPI(Post.self)
/// let page = try await posts.find(.including("author").sorted(by: "createdAt", .descending).limit(20))
/// try await posts.relationship("comments", ofID: "1").add([JSONAPIIdentifier(type: "comments", id: "5")])
/// ```
///
/// Every call is one of the untyped service's, goes through its hooks and throws what those throw. A model that makes no resource is a
/// `FeathersError.Code.badRequest`, a result that is no such model a `FeathersError.Code.generalError`, with the ``JSONAPIError`` as cause.
public struct JSONAPIService<Model: JSONAPIModel>: Sendable {
    /// The same service, untyped.
    public let untyped: Service
    /// How models become records and back.
    public let codec: JSONAPICodec

    /// A service seen through a model; `app.jsonAPI(Model.self)` is the short way, with the transport's codec.
    public init(_ service: Service, of model: Model.Type = Model.self, codec: JSONAPICodec = JSONAPICodec()) {
        untyped = service
        self.codec = codec
    }
}

extension FeathersApp {
    /// The service of a model's resources.
    /// - Parameters:
    ///   - model: what the resources become.
    ///   - path: the service's path; the model's type unless given.
    public func jsonAPI<Model: JSONAPIModel>(_ model: Model.Type, at path: String? = nil) -> JSONAPIService<Model> {
        JSONAPIService(service(path ?? model.type), codec: transport?.component(JSONAPITransport.self)?.codec ?? JSONAPICodec())
    }
}

extension JSONAPIService {
    /// Lists the resources that match a query: one page of them.
    @concurrent
    public func find(_ query: Query = Query(), params: Params = Params()) async throws -> JSONAPIPage<Model> {
        try await page(untyped.find(query, params: params), params)
    }

    /// Reads one resource.
    @concurrent
    public func get(_ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()) async throws -> Model {
        try decode(await untyped.get(id, query, params: params))
    }

    /// Creates a resource. Its relationships' targets must have ids; they are not saved along.
    ///
    /// Where the server has nothing to add, the result is what was sent.
    @concurrent @discardableResult
    public func create(_ model: Model, _ query: Query = Query(), params: Params = Params()) async throws -> Model {
        try decode(await untyped.create(encode(model), query, params: params))
    }

    /// Creates several resources in one batch, all or none; the server must have the Atomic Operations extension.
    @concurrent @discardableResult
    public func create(contentsOf models: [Model], params: Params = Params()) async throws -> [Model] {
        let records = try await untyped.create(contentsOf: models.map(encode), params: params)
        return try Paginated(json: records).data.map { try decode($0) }
    }

    /// Changes a resource: what the changes leave out stays as it is, see ``Presence``.
    /// - Returns: the resource where the server sent it as it is now; nil where it only agreed.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with changes: some JSONAPIModel, _ query: Query = Query(), params: Params = Params()
    ) async throws -> Model? {
        let sent = try encode(changes)
        let result = try await untyped.patch(id, with: sent, query, params: params)
        guard result["@document"]?["isSent"] != true else { return nil }
        return try decode(result) as Model
    }

    /// Removes a resource.
    @concurrent
    public func remove(_ id: some ServiceIDConvertible & Sendable, params: Params = Params()) async throws {
        _ = try await untyped.remove(id, params: params)
    }

    /// Reads a resource again, whatever is known of it.
    @concurrent
    public func reload(_ model: Model, _ query: Query = Query(), params: Params = Params()) async throws -> Model {
        guard let id = model.id.jsonAPIText else {
            throw FeathersError(.badRequest, "A \(Model.self) without an id cannot be read again", execution: .neverSent)
        }
        return try await get(id, query, params: params)
    }

    func encode(_ model: some JSONAPIModel) throws -> JSONValue {
        do {
            return try codec.encode(model)
        } catch let error as JSONAPIError {
            throw FeathersError(.badRequest, "The model makes no resource: \(error)", execution: .neverSent, cause: error)
        }
    }

    func decode<Value: JSONAPIRelatable>(_ json: JSONValue, as type: Value.Type = Model.self) throws -> Value {
        do {
            return try codec.decode(type, from: json)
        } catch let error as JSONAPIError {
            throw FeathersError(.generalError, "A result of service '\(untyped.path)' is no \(type): \(error)", cause: error)
        }
    }

    func page(_ json: JSONValue, _ params: Params) throws -> JSONAPIPage<Model> {
        let page = try Paginated(json: json)
        let note = json["@document"]
        return JSONAPIPage(
            data: try page.data.map { try decode($0) }, total: page.total, links: JSONAPILinks(note?["links"]?.object ?? [:]),
            meta: note?["meta"]?.object, cursors: page.data.map { $0["@meta"]?["page"]?["cursor"]?.string }, url: note?["url"]?.string,
            service: self, params: params)
    }
}
