import FeathersSupport

/// A service of an app, with Feathers' six methods, custom methods, hooks and events.
///
/// ```swift
/// let messages = app.service("messages", of: Message.self)
/// let message = try await messages.create(Message(text: "Hi"))
/// let recent = try await messages.find(.sorted(by: .createdAt, .descending).limit(10))
/// ```
///
/// Its records are values of a model, or JSON: `app.service("messages")` is a `Service<JSONValue>`. It works the same
/// for local and remote services, and keeps its app alive. Calls run concurrently.
///
/// In every method, `query` contains the conditions that records must match, their order and number, and the properties
/// of the result. `params` contains header fields, values for the path's placeholders, a deadline, and values of your
/// own for hooks. A query in `params.query` also applies: records must match both queries' conditions, and the
/// argument's `$limit`, `$skip`, `$sort` and `$select` take precedence.
///
/// Every method throws ``FeathersError``, `CancellationError`, or any error that your own hooks throw. Data that cannot
/// be encoded throws ``FeathersError/Code/badRequest`` with the name of the property, and nothing is sent. A result
/// that cannot be decoded throws ``FeathersError/Code/generalError`` with the name of the property and, in a list, the
/// record. In that case, the call was executed.
///
/// ## Topics
///
/// ### Reading
/// - ``find(_:params:)``
/// - ``find(id:query:params:)``
/// - ``find(ids:query:params:)``
/// - ``first(_:params:)``
/// - ``count(_:params:)``
/// - ``get(_:query:params:)``
/// - ``pages(_:of:keyedBy:prefetching:params:)``
///
/// ### Creating
/// - ``create(_:query:params:)-(EncodableSendable,_,_)``
/// - ``create(_:query:params:)-(JSONValue,_,_)``
/// - ``create(_:query:params:)-(KeyValuePairs<String,EncodableSendable>,_,_)``
///
/// ### Changing
/// - ``update(_:with:query:params:)-(_,EncodableSendable,_,_)``
/// - ``patch(_:with:query:params:)-(ServiceIDConvertibleSendable,EncodableSendable,_,_)``
/// - ``patchAll(query:with:params:)-(_,EncodableSendable,_)``
///
/// ### Removing
/// - ``remove(_:query:params:)-(ServiceIDConvertibleSendable,_,_)``
/// - ``removeAll(query:params:)``
///
/// ### Custom methods
/// - ``call(_:with:returning:query:params:)-(_,JSONValue,_,_,_)``
///
/// ### Events
/// - ``events(_:bufferingNewest:)-(EventName,_)``
/// - ``events(_:as:bufferingNewest:)``
/// - ``changes(_:bufferingNewest:)``
/// - ``deliveries(_:bufferingNewest:)``
/// - ``eventDeliveries(_:bufferingNewest:)``
/// - ``emit(_:_:)``
///
/// ### Streamed results
/// - ``stream(_:id:with:query:params:endingWith:)-(_,_,JSONValue?,_,_,_)``
/// - ``stream(_:id:with:query:params:as:endingWith:)-(_,_,JSONValue?,_,_,_,_)``
///
/// ### The service itself
/// - ``app``
/// - ``path``
/// - ``registered``
/// - ``use(hooks:)``
/// - ``hooks``
/// - ``json``
/// - ``of(_:rootKeys:coding:)``
/// - ``respond(to:)``
public struct Service<Model: Codable & Sendable>: Sendable {
    /// The app the service belongs to.
    public let app: FeathersApp
    /// The actor that owns the service's hooks and options.
    public let registered: RegisteredService
    /// How the records are written; nil for the app's own way.
    let recordFormat: RecordFormat?

    init(app: FeathersApp, registered: RegisteredService, format: RecordFormat? = nil) {
        (self.app, self.registered, self.recordFormat) = (app, registered, format)
    }

    /// The path without leading and trailing slashes.
    public var path: String { registered.path }

    /// Appends hooks. Calls that start after this method returns run them.
    public func use(hooks: Hooks) async { await registered.use(hooks: hooks) }

    /// The hooks that are registered on this service. They do not include the app's.
    public var hooks: Hooks { get async { await registered.hooks } }

    /// The same service with JSON as its records. It has neither root keys nor a codec of its own.
    public var json: Service<JSONValue> {
        Service<JSONValue>(app: app, registered: registered, format: recordFormat?.json)
    }

    /// Returns the same service with a model for its records.
    /// - Parameters:
    ///   - model: The type of the records.
    ///   - rootKeys: The keys that lead to the record, list or page in every result, if the server wraps them:
    ///     `["data"]`. Events and streamed items are not unwrapped.
    ///   - coding: The codec between models and JSON; nil for the app's.
    public func of<Other>(
        _ model: Other.Type, rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil
    ) -> Service<Other> {
        let format = RecordFormat(idProperty: idProperty, rootKeys: rootKeys, coding: coding)
        if let format, !rootKeys.isEmpty || coding != nil { registered.remember(format, of: model) }
        return Service<Other>(app: app, registered: registered, format: format)
    }

    /// Runs any request of this service through its hooks, and returns the response with its metadata.
    ///
    /// The service's own path replaces the request's. The response is the server's: nothing is decoded or unwrapped.
    @concurrent
    public func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        var request = request
        request.path = path
        return try await executeCall(request)
    }
}

extension Service {
    /// Returns a request with the conditions of both queries.
    /// - Throws: ``FeathersError/Code/badRequest`` that names the model, if a date of the query cannot be written.
    @inline(__always)
    package func makeRequest(
        _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, query: Query<Model>, params: Params
    ) throws(FeathersError) -> ServiceRequest {
        var params = params
        if !rootKeys.isEmpty { params[PageRootKeys.self] = rootKeys }
        if query.isEmpty { return ServiceRequest(path: path, method: method, id: id, data: data, params: params) }
        let query = try query.written(for: codec(for: params))
        return ServiceRequest(path: path, method: method, id: id, data: data, params: params.joining(query))
    }

    /// Returns a request whose id may be missing only if its method has no id, so that a missing id never means every
    /// record.
    package func addressedRequest(
        _ method: ServiceMethod, id: ServiceID?, data: JSONValue?, query: Query<Model>, params: Params
    ) throws(FeathersError) -> ServiceRequest {
        switch method {
        case .get, .update, .patch, .remove:
            guard id != nil else { throw .refused("'\(method)' on service '\(path)' needs an id") }
        case .find, .create, .custom: break
        }
        return try makeRequest(method, id: id, data: data, query: query, params: params)
    }

    /// - Throws: ``FeathersError/Code/badRequest`` for one of Feathers' six methods.
    package func customRequest(
        _ method: ServiceMethod, data: JSONValue, query: Query<Model>, params: Params
    ) throws(FeathersError) -> ServiceRequest {
        guard method.isCustom else {
            throw .refused("'\(method)' is not a custom method: use '\(method)(…)' instead of 'call(\"\(method)\")'")
        }
        return try makeRequest(method, data: data, query: query, params: params)
    }
}

/// The path through the envelope of a call's result.
package enum PageRootKeys: ParamsKey { package typealias Value = [RootKey] }

/// How a service writes its records.
///
/// It is an object, so that services do not grow for what only few of them need.
final class RecordFormat: Sendable {
    /// The property that holds a record's id, as its ``ServiceDefinition`` says.
    let idProperty: String
    /// The path through the envelope of the server's responses; empty if there is none.
    let rootKeys: [RootKey]
    let coding: (any JSONCodec)?
    /// The format without root keys and codec; nil if this one has neither.
    private let plain: RecordFormat?

    /// The format of the same service without a model; nil for the app's own way.
    var json: RecordFormat? { rootKeys.isEmpty && coding == nil ? self : plain }

    /// - Returns: Nil for the app's own way.
    init?(idProperty: String, rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil) {
        if idProperty == "id", rootKeys.isEmpty, coding == nil { return nil }
        (self.idProperty, self.rootKeys, self.coding) = (idProperty, rootKeys, coding)
        plain = rootKeys.isEmpty && coding == nil ? nil : RecordFormat(idProperty: idProperty)
    }
}

extension Service {
    /// The property of a record that holds its id.
    public var idProperty: String { recordFormat?.idProperty ?? "id" }
    /// The path through the envelope of the server's responses; empty if there is none.
    package var rootKeys: [RootKey] { recordFormat?.rootKeys ?? [] }

    /// Returns the same service for what refers to its records: with root keys and a codec or, for those that are not
    /// given, as the app has last read the records as this model.
    package func referred<Other>(
        as model: Other.Type, rootKeys: [RootKey], coding: (any JSONCodec)?
    ) -> Service<Other> {
        let usual = registered.format(of: model)
        return Service<Other>(
            app: app, registered: registered,
            format: RecordFormat(
                idProperty: idProperty, rootKeys: rootKeys.isEmpty ? usual?.rootKeys ?? [] : rootKeys,
                coding: coding ?? usual?.coding))
    }

    /// Returns the same service whose records have their id in another property.
    package func identified(by property: String) -> Service {
        Service(
            app: app, registered: registered,
            format: RecordFormat(idProperty: property, rootKeys: rootKeys, coding: recordFormat?.coding))
    }
}
