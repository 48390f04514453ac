/// A service whose records are a model of yours: it encodes what goes in and decodes what comes out.
///
/// ```swift
/// let messages = app.service("messages", of: Message.self)
/// let recent = try await messages.find(.sorted(by: "createdAt", .descending).limit(10))
/// ```
///
/// Hooks and events are the untyped service's: both faces see the same calls.
public struct TypedService<Model: Codable & Sendable>: Sendable {
    /// The same service, untyped.
    public let untyped: Service

    public init(_ service: Service, of model: Model.Type = Model.self) {
        untyped = service
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
        let json = try await untyped.find(query, params: params)
        return try Paginated(json: json).map(decode)
    }

    /// Reads one record.
    @concurrent
    public func get(_ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()) async throws -> Model {
        try decode(await untyped.get(id, query, params: params))
    }

    /// Creates a record from a model or from any other encodable value.
    @concurrent @discardableResult
    public func create(_ data: some Encodable & Sendable, _ query: Query = Query(), params: Params = Params()) async throws -> Model {
        try decode(await untyped.create(encode(data), query, params: params))
    }

    /// Creates several records in one call.
    @concurrent @discardableResult
    public func create(
        contentsOf data: [some Encodable & Sendable], _ query: Query = Query(), params: Params = Params()
    ) async throws -> [Model] {
        try decodeList(await untyped.create(contentsOf: data.map(encode), query, params: params))
    }

    /// Replaces a record.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, _ query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try decode(await untyped.update(id, with: encode(data), query, params: params))
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, _ query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        try decode(await untyped.patch(id, with: encode(data), query, params: params))
    }

    /// Merges JSON into a record: the form for patches with values of several kinds.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, _ query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try decode(await untyped.patch(id, with: data, query, params: params))
    }

    /// Merges data into every record that matches a query.
    @concurrent @discardableResult
    public func patchAll(matching query: Query, with data: some Encodable & Sendable, params: Params = Params()) async throws -> [Model] {
        try decodeList(await untyped.patchAll(matching: query, with: encode(data), params: params))
    }

    /// Removes a record.
    @concurrent @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible & Sendable, _ query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try decode(await untyped.remove(id, query, params: params))
    }

    /// Removes every record that matches a query.
    @concurrent @discardableResult
    public func removeAll(matching query: Query, params: Params = Params()) async throws -> [Model] {
        try decodeList(await untyped.removeAll(matching: query, params: params))
    }

    /// Calls a custom method and decodes its result into the type the caller expects.
    @concurrent
    public func call<Result: Decodable & Sendable>(
        _ method: ServiceMethod, with data: some Encodable & Sendable, returning type: Result.Type = Result.self,
        _ query: Query = Query(), params: Params = Params()
    ) async throws -> Result {
        try JSONValueDecoder().decode(type, from: await untyped.call(method, with: encode(data), query, params: params))
    }
}

extension TypedService {
    /// The records of one kind of event, listening from now on.
    ///
    /// What does not decode is reported as a gap in ``ServiceEvents/deliveries``.
    public func events(_ name: EventName, buffering limit: Int = Service.defaultEventBuffer) -> ServiceEvents<Model> {
        untyped.registration.events.subscribe(to: [name], buffering: limit) { try decode($0.data) }
    }

    private func encode(_ value: some Encodable) throws -> JSONValue {
        try JSONValueEncoder().encode(value)
    }

    /// Decodes a record of this service.
    package func decode(_ json: JSONValue) throws -> Model {
        do {
            return try JSONValueDecoder().decode(Model.self, from: json)
        } catch {
            throw FeathersError.undecodable(Model.self, at: path, error)
        }
    }

    private func decodeList(_ json: JSONValue) throws -> [Model] {
        try Paginated(json: json).data.map(decode)
    }
}

extension FeathersError {
    /// A result that does not fit the model: the decoding error tells where, never what was there.
    static func undecodable(_ model: Any.Type, at path: String, _ error: any Error) -> FeathersError {
        FeathersError(.generalError, "A result of service '\(path)' is no \(model): \(explanation(of: error))", cause: error)
    }

    private static func explanation(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return String(describing: error) }
        func place(_ context: DecodingError.Context) -> String {
            context.codingPath.isEmpty ? "at the top" : "at '\(context.codingPath.map(\.stringValue).joined(separator: "."))'"
        }
        switch error {
        case .keyNotFound(let key, let context): return "'\(key.stringValue)' is missing \(place(context))"
        case .valueNotFound(let type, let context): return "\(type) is null \(place(context))"
        case .typeMismatch(let type, let context): return "no \(type) \(place(context))"
        case .dataCorrupted(let context): return "\(context.debugDescription) \(place(context))"
        @unknown default: return "it can not be decoded"
        }
    }
}
