/// A service whose records are a model of yours: it encodes what goes in and decodes what comes out.
///
/// ```swift
/// let messages = app.service("messages", of: Message.self)
/// let recent = try await messages.find(.sorted(by: "createdAt", .descending).limit(10))
/// ```
///
/// Hooks and events are the untyped service's: both faces see the same calls. Parameters and errors are those of ``Service``'s methods. Besides, what the
/// codec says of a model that cannot be written is thrown as it is (`EncodingError`), and a result that is no such model is a
/// ``FeathersError/Code/generalError`` that names the property: the call has been executed then.
public struct TypedService<Model: Codable & Sendable>: Sendable {
    /// The same service, untyped.
    public let untyped: Service
    /// The way through the envelope in which the server answers; empty where there is none.
    let rootKeys: [RootKey]
    let coding: (any JSONCodec)?

    /// A service seen through a model; `app.service(path, of: Model.self)` is the short way.
    /// - Parameters:
    ///   - service: the untyped service.
    ///   - model: what a record becomes.
    ///   - rootKeys: the way to the record, list or page inside every result, for servers that wrap them: `["data"]`. Events carry records as they are.
    ///   - coding: how models become JSON and back; nil for the app's way.
    public init(_ service: Service, of model: Model.Type = Model.self, rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil) {
        untyped = service
        self.rootKeys = rootKeys
        self.coding = coding
    }

    /// The path without leading and trailing slashes.
    public var path: String { untyped.path }

    /// Adds hooks behind the present ones.
    public func addHooks(_ hooks: Hooks) async {
        await untyped.addHooks(hooks)
    }
}

extension TypedService {
    /// Lists the records that match a query, with the page's totals where the service paginates.
    @concurrent
    public func find(_ query: Query = Query(), params: Params = Params()) async throws -> Paginated<Model> {
        try decodePage(await untyped.answer(untyped.request(.find, query: query, params: params)), params)
    }

    /// Reads one record.
    @concurrent
    public func get(_ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()) async throws -> Model {
        try decode(await untyped.answer(untyped.request(.get, id: id.serviceID, query: query, params: params)), codec(for: params))
    }

    /// Creates a record from a model or from any other encodable value.
    @concurrent @discardableResult
    public func create(_ data: some Encodable & Sendable, _ query: Query = Query(), params: Params = Params()) async throws -> Model {
        let codec = codec(for: params)
        return try decode(await untyped.answer(untyped.request(.create, data: codec.encode(data), query: query, params: params)), codec)
    }

    /// Creates several records in one call.
    @concurrent @discardableResult
    public func create(
        contentsOf data: [some Encodable & Sendable], _ query: Query = Query(), params: Params = Params()
    ) async throws -> [Model] {
        let codec = codec(for: params)
        let records = try JSONValue.array(data.map(codec.encode))
        return try decodeList(await untyped.answer(untyped.request(.create, data: records, query: query, params: params)), params)
    }

    /// Replaces a record.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, _ query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        let codec = codec(for: params)
        let request = try untyped.request(.update, id: id.serviceID, data: codec.encode(data), query: query, params: params)
        return try decode(await untyped.answer(request), codec)
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, _ query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        let codec = codec(for: params)
        let request = try untyped.request(.patch, id: id.serviceID, data: codec.encode(data), query: query, params: params)
        return try decode(await untyped.answer(request), codec)
    }

    /// Merges JSON into a record: the form for patches with values of several kinds.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, _ query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        let request = untyped.request(.patch, id: id.serviceID, data: data, query: query, params: params)
        return try decode(await untyped.answer(request), codec(for: params))
    }

    /// Merges data into every record that matches a query.
    @concurrent @discardableResult
    public func patchAll(matching query: Query, with data: some Encodable & Sendable, params: Params = Params()) async throws -> [Model] {
        let request = try untyped.request(.patch, data: codec(for: params).encode(data), query: query, params: params)
        return try decodeList(await untyped.answer(request), params)
    }

    /// Removes a record.
    @concurrent @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try decode(await untyped.answer(untyped.request(.remove, id: id.serviceID, query: query, params: params)), codec(for: params))
    }

    /// Removes every record that matches a query.
    @concurrent @discardableResult
    public func removeAll(matching query: Query, params: Params = Params()) async throws -> [Model] {
        try decodeList(await untyped.answer(untyped.request(.remove, query: query, params: params)), params)
    }

    /// Calls a custom method and decodes its result into the type the caller expects.
    @concurrent
    public func call<Result: Decodable & Sendable>(
        _ method: ServiceMethod, with data: some Encodable & Sendable, returning type: Result.Type = Result.self,
        _ query: Query = Query(), params: Params = Params()
    ) async throws -> Result {
        let codec = codec(for: params)
        let request = try untyped.customRequest(method, data: codec.encode(data), query: query, params: params)
        return try decode(await untyped.answer(request), as: type, codec)
    }
}

extension TypedService {
    /// The records of one kind of event, listening from now on.
    ///
    /// What does not decode is reported as a gap in ``ServiceEvents/deliveries``.
    public func events(_ name: EventName, buffering limit: Int = Service.defaultEventBuffer) -> ServiceEvents<Model> {
        untyped.registration.events.subscribe(to: [name], buffering: limit) { try decodeRecord($0.data, Params()) }
    }
}
