/// A service whose records are values of a model. It encodes arguments and decodes results.
///
/// ```swift
/// let messages = app.service("messages", of: Message.self)
/// let recent = try await messages.find(.sorted(by: "createdAt", .descending).limit(10))
/// ```
///
/// It shares hooks and events with the untyped service. Parameters and errors are those of ``UntypedService``'s methods. In addition, a model
/// that cannot be encoded throws ``FeathersError/Code/badRequest`` with the name of the property, and nothing is sent. A result that cannot be
/// decoded throws ``FeathersError/Code/generalError`` with the name of the property and, in a list, the record. In that case, the call was executed.
public struct TypedService<Model: Codable & Sendable>: Sendable {
    /// The same service without a model.
    public internal(set) var untyped: UntypedService
    /// The path through the envelope of the server's responses; empty if there is none.
    package let rootKeys: [RootKey]
    let coding: (any JSONCodec)?

    /// Creates a typed view of a service. `app.service(path, of: Model.self)` is the shorthand.
    /// - Parameters:
    ///   - service: the untyped service.
    ///   - model: the type of the records.
    ///   - rootKeys: the keys that lead to the record, list or page in every result, if the server wraps them: `["data"]`. Events are not unwrapped.
    ///   - coding: the codec between models and JSON; nil for the app's.
    public init(_ service: UntypedService, of model: Model.Type = Model.self, rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil) {
        untyped = service
        self.rootKeys = rootKeys
        self.coding = coding
    }

    /// The path without leading and trailing slashes.
    public var path: String { untyped.path }

    /// Appends hooks.
    public func use(hooks: Hooks) async {
        await untyped.use(hooks: hooks)
    }
}

extension TypedService {
    /// Returns the records that match a query, with the totals of the page if the service paginates.
    @concurrent
    public func find(_ query: Query = Query(), params: Params = Params()) async throws -> Paginated<Model> {
        try decodePage(await untyped.execute(untyped.request(.find, query: query, params: params)), params)
    }

    /// Reads one record.
    @concurrent
    public func get(_ id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()) async throws -> Model {
        try decode(
            await untyped.execute(untyped.request(.get, id: id.serviceID, query: query, params: params)), .get, codec(for: params))
    }

    /// Creates a record from a model or another encodable value.
    @concurrent @discardableResult
    public func create(_ data: some Encodable & Sendable, query: Query = Query(), params: Params = Params()) async throws -> Model {
        let codec = codec(for: params)
        let record = try oneRecord(codec.encodeSent(data, to: path))
        return try decode(await untyped.execute(untyped.request(.create, data: record, query: query, params: params)), .create, codec)
    }

    /// Creates several records in one call.
    @concurrent @discardableResult
    public func create(
        contentsOf data: [some Encodable & Sendable], query: Query = Query(), params: Params = Params()
    ) async throws -> [Model] {
        let codec = codec(for: params)
        let records = try JSONValue.array(data.map { try codec.encodeSent($0, to: path) })
        return try decodeList(
            await untyped.execute(untyped.request(.create, data: records, query: query, params: params)), .create, params)
    }

    /// Creates several records in one call, as `create(contentsOf:)` does.
    @concurrent @discardableResult
    public func create(_ data: [some Encodable & Sendable], query: Query = Query(), params: Params = Params()) async throws -> [Model] {
        try await create(contentsOf: data, query: query, params: params)
    }

    /// Replaces a record.
    @concurrent @discardableResult
    public func update(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        let codec = codec(for: params)
        let request = try untyped.request(.update, id: id.serviceID, data: codec.encodeSent(data, to: path), query: query, params: params)
        return try decode(await untyped.execute(request), .update, codec)
    }

    /// Merges the properties of a dictionary, or of any encodable value, into a record.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: some Encodable & Sendable, query: Query = Query(),
        params: Params = Params()
    ) async throws -> Model {
        let codec = codec(for: params)
        let request = try untyped.request(.patch, id: id.serviceID, data: codec.encodeSent(data, to: path), query: query, params: params)
        return try decode(await untyped.execute(request), .patch, codec)
    }

    /// Merges JSON into a record. Null clears a property.
    @concurrent @discardableResult
    public func patch(
        _ id: some ServiceIDConvertible & Sendable, with data: JSONValue, query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        let request = try untyped.request(.patch, id: id.serviceID, data: data, query: query, params: params)
        return try decode(await untyped.execute(request), .patch, codec(for: params))
    }

    /// Merges data into every record that matches a query.
    @concurrent @discardableResult
    public func patchAll(query: Query, with data: some Encodable & Sendable, params: Params = Params()) async throws -> [Model] {
        let request = try untyped.request(.patch, data: codec(for: params).encodeSent(data, to: path), query: query, params: params)
        return try decodeList(await untyped.execute(request), .patch, params)
    }

    /// Removes a record.
    @concurrent @discardableResult
    public func remove(
        _ id: some ServiceIDConvertible & Sendable, query: Query = Query(), params: Params = Params()
    ) async throws -> Model {
        try decode(
            await untyped.execute(untyped.request(.remove, id: id.serviceID, query: query, params: params)), .remove,
            codec(for: params))
    }

    /// Removes every record that matches a query.
    @concurrent @discardableResult
    public func removeAll(query: Query, params: Params = Params()) async throws -> [Model] {
        try decodeList(await untyped.execute(untyped.request(.remove, query: query, params: params)), .remove, params)
    }

    /// Calls a custom method and decodes its result into the expected type.
    @concurrent
    public func call<Result: Decodable & Sendable>(
        _ method: ServiceMethod, with data: some Encodable & Sendable, returning type: Result.Type = Result.self,
        query: Query = Query(), params: Params = Params()
    ) async throws -> Result {
        let codec = codec(for: params)
        let request = try untyped.customRequest(method, data: codec.encodeSent(data, to: path), query: query, params: params)
        return try decode(await untyped.execute(request), method, as: type, codec)
    }
}

extension TypedService {
    /// Translates a typed query with the property names and date format of this service.
    /// - Throws: ``FeathersError/Code/badRequest`` under the same conditions as ``TypedQuery/untyped(coding:)``.
    package func written(_ query: TypedQuery<Model>, _ params: Params) throws(FeathersError) -> Query {
        try query.untyped(coding: codec(for: params))
    }

    /// Returns the records that match a typed query.
    @concurrent
    public func find(_ query: TypedQuery<Model>, params: Params = Params()) async throws -> Paginated<Model> {
        try await find(written(query, params), params: params)
    }

    /// Merges data into every record that matches a typed query.
    @concurrent @discardableResult
    public func patchAll(
        query: TypedQuery<Model>, with data: some Encodable & Sendable, params: Params = Params()
    ) async throws -> [Model] {
        try await patchAll(query: written(query, params), with: data, params: params)
    }

    /// Removes every record that matches a typed query.
    @concurrent @discardableResult
    public func removeAll(query: TypedQuery<Model>, params: Params = Params()) async throws -> [Model] {
        try await removeAll(query: written(query, params), params: params)
    }

    /// Returns the pages of the records that match a typed query; see ``UntypedService/pages(_:of:keyedBy:prefetching:params:)``.
    /// - Throws: ``FeathersError/Code/badRequest``, which names the model, if a date cannot be written in the service's format.
    public func pages(
        _ query: TypedQuery<Model>, of size: Int = 100, keyedBy key: String? = nil, prefetching prefetch: Int = 0, params: Params = Params()
    ) throws -> ServicePages<Model> {
        try pages(written(query, params), of: size, keyedBy: key, prefetching: prefetch, params: params)
    }
}

extension TypedService {
    /// Returns the records of future events of one kind; see ``UntypedService/events(_:bufferingNewest:)-(EventName,_)``.
    ///
    /// An event that cannot be decoded is skipped, with a warning in the app's diagnostics. ``deliveries(_:bufferingNewest:)`` shows the position.
    public func events(_ name: EventName, bufferingNewest limit: Int = Service.defaultEventBuffer) -> AsyncStream<Model> {
        events(name, as: Model.self, bufferingNewest: limit)
    }

    /// Returns the payloads of future custom events: `messages.events("typing", as: Typing.self)`.
    /// - Parameters:
    ///   - name: the name of the event.
    ///   - payload: the type that the event's data is decoded into.
    ///   - limit: the number of newest events to buffer for a slow reader, as with `AsyncStream`'s `.bufferingNewest(limit)`.
    public func events<Payload: Decodable & Sendable>(
        _ name: EventName, as payload: Payload.Type, bufferingNewest limit: Int = Service.defaultEventBuffer
    ) -> AsyncStream<Payload> {
        untyped.subscribe(to: [name], bufferingNewest: limit).events(untyped.diagnostics, eventDecoder(payload))
    }

    /// Returns future changes of the service's records; of all four kinds by default.
    public func changes(
        _ names: [EventName] = EventName.standard, bufferingNewest limit: Int = Service.defaultEventBuffer
    ) -> AsyncStream<ServiceChange<Model>> {
        untyped.subscribe(to: names, bufferingNewest: limit).events(untyped.diagnostics, changeDecoder)
    }

    /// Returns future changes of the service's records, with markers where events are missing or cannot be decoded.
    public func deliveries(
        _ names: [EventName] = EventName.standard, bufferingNewest limit: Int = Service.defaultEventBuffer
    ) -> AsyncStream<EventDelivery<ServiceChange<Model>>> {
        untyped.subscribe(to: names, bufferingNewest: limit).deliveries(untyped.diagnostics, changeDecoder)
    }

    private func eventDecoder<Payload: Decodable & Sendable>(_ type: Payload.Type) -> @Sendable (ServiceEvent) throws -> Payload {
        let (coding, app) = (coding, untyped.app.weakReference)
        return { event in
            let codec = coding ?? app.app?.coding ?? defaultCoding
            do {
                return try codec.decode(type, from: event.data)
            } catch {
                throw FeathersError.undecodable("The event '\(event.name)' of service '\(event.path)'", as: type, error)
            }
        }
    }

    private var changeDecoder: @Sendable (ServiceEvent) throws -> ServiceChange<Model> {
        let decode = eventDecoder(Model.self)
        return { try $0.change(of: decode($0)) }
    }
}

// MARK: - Coding

extension FeathersApp {
    /// The codec between models and JSON, unless a service or call sets its own.
    public var coding: any JSONCodec {
        get { self[AppCoding.self] ?? defaultCoding }
        set { self[AppCoding.self] = newValue }
    }
}

extension Params {
    /// The codec between models and JSON for this call. It overrides the service's and the app's, and is never sent.
    public var coding: (any JSONCodec)? {
        get { self[CallCoding.self] }
        set { self[CallCoding.self] = newValue }
    }
}

/// Boxed once, because creating it for every call would allocate.
private let defaultCoding: any JSONCodec = CodingOptions()

private enum AppCoding: AppSetting { typealias Value = any JSONCodec }
private enum CallCoding: ParamsKey { typealias Value = any JSONCodec }

extension TypedService {
    /// Returns the codec of the call, the service or the app, in this order.
    package func codec(for params: Params) -> any JSONCodec {
        params.coding ?? coding ?? untyped.app.coding
    }

    /// Throws an error for a list if one record is expected, before anything is sent.
    func oneRecord(_ data: JSONValue) throws(FeathersError) -> JSONValue {
        guard data.array == nil else {
            throw .refused("'create' of service '\(path)' takes one record. To create several, use create(contentsOf:)")
        }
        return data
    }

    /// Decodes a result of `find`.
    package func decodePage(_ json: JSONValue, _ params: Params) throws -> Paginated<Model> {
        try decodePage(ServiceResponse(json), params)
    }

    /// Decodes a result of a method that is one record.
    package func decodeResult(_ json: JSONValue, of method: ServiceMethod, _ params: Params) throws -> Model {
        try decode(ServiceResponse(json), method, codec(for: params))
    }

    /// Returns the records of a result of `find` without decoding them.
    package func page(_ json: JSONValue) throws -> Paginated<JSONValue> {
        try Paginated(json: named(.find, Model.self) { try json.unwrapped(by: rootKeys) })
    }

    func decodePage(_ response: ServiceResponse, of method: ServiceMethod = .find, _ params: Params) throws -> Paginated<Model> {
        do {
            return try named(method, Model.self) { try response.decodePage(of: Model.self, at: rootKeys, codec(for: params)) }
        } catch {
            guard params.skipsUndecodableRecords else { throw error }
            return try decodePageSkipping(response.result, of: method, params)
        }
    }

    func decodeList(_ response: ServiceResponse, _ method: ServiceMethod, _ params: Params) throws -> [Model] {
        try decodePage(response, of: method, params).data
    }

    func decode<Value: Decodable>(
        _ response: ServiceResponse, _ method: ServiceMethod, as type: Value.Type = Model.self, _ codec: any JSONCodec
    ) throws -> Value {
        try named(method, type) { try response.decode(type, at: rootKeys, codec) }
    }

    /// Adds the method, the service and the model to the errors of a decoder.
    private func named<Value>(_ method: ServiceMethod, _ type: Any.Type, _ decode: () throws -> Value) throws -> Value {
        do {
            return try decode()
        } catch let error as FeathersError {
            throw error
        } catch {
            throw FeathersError.undecodable("The result of '\(method)' on service '\(path)'", as: type, error)
        }
    }
}
